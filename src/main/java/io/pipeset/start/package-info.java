/**
 * Checks of the configuration at the start: a start with an unknown or wrong property
 * fails, and a short message explains why.
 */
@NullMarked
package io.pipeset.start;

import org.jspecify.annotations.NullMarked;
