/**
 * The Redis of the tests: its choice among several sources, its pauses and ends, and a
 * proxy that breaks connections to it. It is always a real one.
 */
@NullMarked
package io.pipeset.redis;

import org.jspecify.annotations.NullMarked;
