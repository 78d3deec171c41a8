/**
 * Analyses of a keyspace: one pass of SCAN over all keys that match a pattern gives
 * totals by type, prefix, TTL and size. The memory does not grow with the number of keys.
 */
@NullMarked
package io.pipeset.keyspace;

import org.jspecify.annotations.NullMarked;
