/**
 * The walk through all keys: the servers that are walked, how far a walk has come at each
 * of them, and the slots whose keys it may have missed. Sweeps and analyses ask for the
 * pages.
 */
@NullMarked
package io.pipeset.engine.scan;

import org.jspecify.annotations.NullMarked;
