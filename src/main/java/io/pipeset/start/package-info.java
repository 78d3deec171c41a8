/**
 * Starts that fail in a few words, over settings that are unknown or wrong.
 */
@NullMarked
package io.pipeset.start;

import org.jspecify.annotations.NullMarked;
