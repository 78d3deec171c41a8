/**
 * The scan of all keys: which servers are scanned, how far each server's scan has come,
 * and the slots whose keys may have been missed. Sweeps and analyses request the pages.
 */
@NullMarked
package io.pipeset.engine.scan;

import org.jspecify.annotations.NullMarked;
