/**
 * The servers that records go to: one, the master that Sentinels name, or the masters of
 * a cluster. {@link io.pipeset.servers.RedisNodes} knows who is master of what now, as a
 * {@link io.pipeset.servers.Topology}.
 */
@NullMarked
package io.pipeset.servers;

import org.jspecify.annotations.NullMarked;
