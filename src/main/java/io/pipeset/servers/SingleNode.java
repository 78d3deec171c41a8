package io.pipeset.servers;

import java.util.List;
import java.util.function.IntPredicate;

import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.call.MasterWatch;
import org.jspecify.annotations.Nullable;

/** A single server, which has all keys. */
record SingleNode(RedisNode node, Topology owners) implements RedisNodes {

	SingleNode(RedisNode node) {
		this(node, Topology.of((slot) -> node));
	}

	@Override
	public boolean isCluster() {
		return false;
	}

	@Override
	public boolean redirects(String code) {
		return false;
	}

	@Override
	public SlotsAtNode slotsAt(RedisNode node) {
		return SlotsAtNode.ALL;
	}

	@Override
	public RedisNode single() {
		return this.node;
	}

	@Override
	public MasterWatch watch() {
		return this.node.watch();
	}

	@Override
	public List<RedisNode> masters() {
		return List.of(this.node);
	}

	@Override
	public List<RedisNode> named() {
		return masters();
	}

	@Override
	public String name() {
		return this.node.name();
	}

	@Override
	public void refresh() {
		// It stays the same.
	}

	@Override
	public void refreshSoon() {
		// It stays the same.
	}

	@Override
	public @Nullable RedisNode find(String address) {
		return null;
	}

	@Override
	public void moved(int slot, RedisNode master) {
		throw new IllegalStateException("A single server has all slots");
	}

	@Override
	public boolean isSuperseded(RedisNode former, IntPredicate slots, long sinceNanos) {
		return false;
	}

	@Override
	public void close() {
		this.node.close();
	}

}
