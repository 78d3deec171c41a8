/**
 * Scripts of callers: whether they may run, and their text, by which a Redis that has
 * forgotten a script is given it again.
 */
@NullMarked
package io.pipeset.engine.script;

import org.jspecify.annotations.NullMarked;
