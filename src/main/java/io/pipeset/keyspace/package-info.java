/**
 * Analyses of a keyspace: the pattern of the keys comes in, one pass of SCAN looks at
 * each, and totals by type, prefix, age and size go out, in memory that does not grow
 * with the number of keys.
 */
@NullMarked
package io.pipeset.keyspace;

import org.jspecify.annotations.NullMarked;
