/**
 * Commands that only read, and whose answers are values: keys and cursors go out as RESP,
 * and what Redis knows of each key comes in, into arrays without an object for each.
 */
@NullMarked
package io.pipeset.engine.slab.lookup;

import org.jspecify.annotations.NullMarked;
