/**
 * Read-only commands whose replies are values. Keys and cursors are written as RESP, and
 * the facts about each key go into arrays without an object for each.
 */
@NullMarked
package io.pipeset.engine.slab.lookup;

import org.jspecify.annotations.NullMarked;
