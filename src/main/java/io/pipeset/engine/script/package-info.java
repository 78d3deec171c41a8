/**
 * The scripts of callers: whether they may run, and their texts. The service loads a
 * script again if Redis has forgotten it.
 */
@NullMarked
package io.pipeset.engine.script;

import org.jspecify.annotations.NullMarked;
