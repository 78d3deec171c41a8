/**
 * The servers that records go to: a single one, the master that Sentinels name, or the
 * masters of a cluster. {@link io.pipeset.engine.servers.RedisNodes} knows the current
 * masters, as a {@link io.pipeset.engine.servers.Topology}.
 */
@NullMarked
package io.pipeset.engine.servers;

import org.jspecify.annotations.NullMarked;
