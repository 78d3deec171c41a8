package io.pipeset.engine.servers;

import java.util.List;

import io.pipeset.engine.pipeline.RedisNode;

/** A single server, which always has all keys. */
record SingleNode(RedisNode node, Topology owners) implements RedisNodes {

	SingleNode(RedisNode node) {
		this(node, Topology.of((slot) -> node));
	}

	@Override
	public List<RedisNode> named() {
		return List.of(this.node);
	}

	@Override
	public int database() {
		return this.node.database();
	}

	@Override
	public String name() {
		return this.node.name();
	}

	@Override
	public String untilReached() {
		return "there is a Redis at " + name()
				+ "; set spring.data.redis.host and .port, or spring.data.redis.url, to name another";
	}

	@Override
	public void close() {
		this.node.close();
	}

}
