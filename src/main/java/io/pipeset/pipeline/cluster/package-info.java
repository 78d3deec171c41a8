/**
 * The masters of a Redis Cluster: the topology comes in from Lettuce's cluster client,
 * and a {@link io.pipeset.pipeline.RedisNode} for each master comes out, with connections
 * of its own.
 */
@NullMarked
package io.pipeset.pipeline.cluster;

import org.jspecify.annotations.NullMarked;
