package io.pipeset.pipeline;

import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.IntFunction;

import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/** The masters of all slots at one moment; never changed. */
public final class SlotOwners {

	private final @Nullable RedisNode[] bySlot;

	private final Set<RedisNode> nodes = Collections.newSetFromMap(new IdentityHashMap<>());

	private SlotOwners(@Nullable RedisNode[] bySlot) {
		this.bySlot = bySlot;
		for (RedisNode node : bySlot) {
			if (node != null) {
				this.nodes.add(node);
			}
		}
	}

	/**
	 * Makes the masters of slots.
	 * @param owner the master of each slot, or {@code null}
	 * @return the masters
	 */
	public static SlotOwners of(IntFunction<@Nullable RedisNode> owner) {
		@Nullable RedisNode[] bySlot = new RedisNode[Slots.COUNT];
		Arrays.setAll(bySlot, owner);
		return new SlotOwners(bySlot);
	}

	/**
	 * The master of a slot.
	 * @param slot the slot
	 * @return the master, or {@code null} where the slot has none
	 */
	public @Nullable RedisNode owner(int slot) {
		return this.bySlot[slot];
	}

	/**
	 * The master for a record, which answers with an error where the record's slot has
	 * none.
	 * @param slot the slot, or {@link Slots#NONE} for a record that any master can run
	 * @return a master
	 * @throws NoConnectionException if no slot has a master
	 */
	public RedisNode ownerOrAny(int slot) throws NoConnectionException {
		RedisNode owner = (slot >= 0) ? this.bySlot[slot] : null;
		if (owner != null) {
			return owner;
		}
		if (this.nodes.isEmpty()) {
			throw new NoConnectionException("the cluster", "none of its slots has a master");
		}
		return this.nodes.iterator().next();
	}

	/**
	 * The number of masters that have slots.
	 * @return 0 or more
	 */
	public int masters() {
		return this.nodes.size();
	}

	/**
	 * Whether a node is the master of any slot.
	 * @param node the node
	 * @return {@code false} for one that was replaced, or has given all slots away
	 */
	public boolean isMaster(RedisNode node) {
		return this.nodes.contains(node);
	}

	/**
	 * The same masters but for one slot.
	 * @param slot the slot
	 * @param master its master
	 * @return other masters, or these if nothing changes
	 */
	public SlotOwners with(int slot, RedisNode master) {
		if (this.bySlot[slot] == master) {
			return this;
		}
		@Nullable RedisNode[] bySlot = this.bySlot.clone();
		bySlot[slot] = master;
		return new SlotOwners(bySlot);
	}

	/**
	 * Whether all slots have the same masters.
	 * @param other other masters
	 * @return {@code false} if a slot has another one
	 */
	public boolean isSameAs(SlotOwners other) {
		return Arrays.equals(this.bySlot, other.bySlot);
	}

}
