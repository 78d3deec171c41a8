/**
 * One Redis server and the connections to it. Slabs are sent with
 * {@code executePipelined}, and come back answered or lost. The entry point is
 * {@link io.pipeset.engine.pipeline.RedisNode}. Only these packages,
 * {@code engine.servers} and {@code job.control} use Lettuce and Spring Data Redis.
 */
@NullMarked
package io.pipeset.engine.pipeline;

import org.jspecify.annotations.NullMarked;
