/**
 * One server of Redis and the connections to it: slabs go in, {@code executePipelined}
 * runs them, and they come back answered or lost. The way in is a
 * {@link io.pipeset.engine.pipeline.RedisNode}. Only this package and those below its
 * name know Lettuce and Spring Data Redis.
 */
@NullMarked
package io.pipeset.engine.pipeline;

import org.jspecify.annotations.NullMarked;
