package io.pipeset.engine.servers;

import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/**
 * The masters of all slots at one time, immutable. Each change of a slot or a master
 * makes another one.
 */
public final class Topology {

	private final @Nullable RedisNode[] bySlot;

	/** The number of each slot's master; 0 for a slot without a master. */
	private final char[] numbers = new char[Slots.COUNT];

	private final IdentityHashMap<RedisNode, Integer> masters = new IdentityHashMap<>();

	/** The master with the number 0. */
	private final @Nullable RedisNode first;

	/**
	 * The master of all slots; {@code null} if there are several, or slots without a
	 * master.
	 */
	private final @Nullable RedisNode only;

	private Topology(@Nullable RedisNode[] bySlot) {
		this.bySlot = bySlot;
		RedisNode first = null;
		for (int slot = 0; slot < bySlot.length; slot++) {
			RedisNode node = bySlot[slot];
			if (node != null) {
				Integer number = this.masters.get(node);
				if (number == null) {
					number = this.masters.size();
					first = (first != null) ? first : node;
					this.masters.put(node, number);
				}
				this.numbers[slot] = (char) number.intValue();
			}
		}
		this.first = first;
		this.only = (this.masters.size() == 1 && Arrays.stream(bySlot).noneMatch(Objects::isNull)) ? first : null;
	}

	/**
	 * Creates a topology.
	 * @param owner the master of each slot, or {@code null}
	 */
	public static Topology of(IntFunction<@Nullable RedisNode> owner) {
		@Nullable RedisNode[] bySlot = new RedisNode[Slots.COUNT];
		Arrays.setAll(bySlot, owner);
		return new Topology(bySlot);
	}

	/**
	 * The master of a slot.
	 * @return the master, or {@code null} if the slot has none
	 */
	public @Nullable RedisNode owner(int slot) {
		return this.bySlot[slot];
	}

	/**
	 * The only master, which has all slots.
	 * @return {@code null} if there are several, or slots without a master
	 */
	public @Nullable RedisNode only() {
		return this.only;
	}

	/**
	 * The master for a record. If the record's slot has no master, any other master,
	 * which answers with an error.
	 * @param slot the slot, or {@link Slots#NONE} for a record that any master can run
	 * @throws NoConnectionException if no slot has a master
	 */
	public RedisNode ownerOrAny(int slot) throws NoConnectionException {
		RedisNode owner = (slot >= 0) ? this.bySlot[slot] : null;
		if (owner != null) {
			return owner;
		}
		if (this.first == null) {
			throw new NoConnectionException("the cluster", "none of its slots has a master");
		}
		return this.first;
	}

	/**
	 * The next master, for a record that any master can run.
	 * @param node a master that cannot be reached
	 * @return the next master by its number, which is the same one if there is no other
	 * @throws NoConnectionException if no slot has a master
	 */
	public RedisNode after(RedisNode node) throws NoConnectionException {
		int next = this.masters.getOrDefault(node, -1) + 1;
		for (Map.Entry<RedisNode, Integer> master : this.masters.entrySet()) {
			if (master.getValue() == next) {
				return master.getKey();
			}
		}
		return ownerOrAny(Slots.NONE);
	}

	/**
	 * The number of a slot's master, for use as an array index.
	 * @param slot the slot, or {@link Slots#NONE} for any master
	 * @return the number of the master that {@link #ownerOrAny} names, from 0
	 */
	public int number(int slot) {
		return (slot >= 0) ? this.numbers[slot] : 0;
	}

	/** The number of masters that have slots. */
	public int masters() {
		return this.masters.size();
	}

	/**
	 * Whether a node is the master of any slot.
	 * @return {@code false} for a node that was replaced, or has no slots any more
	 */
	public boolean isMaster(RedisNode node) {
		return this.masters.containsKey(node);
	}

	/** The number of slots of which a node is the master. */
	int slots(RedisNode node) {
		return (int) Arrays.stream(this.bySlot).filter((master) -> master == node).count();
	}

	/**
	 * Returns the same masters, except for one slot.
	 * @return another topology, or this one if nothing changes
	 */
	public Topology with(int slot, RedisNode master) {
		if (this.bySlot[slot] == master) {
			return this;
		}
		@Nullable RedisNode[] bySlot = this.bySlot.clone();
		bySlot[slot] = master;
		return new Topology(bySlot);
	}

	/** Whether all slots have the same masters. */
	public boolean isSameAs(Topology other) {
		return Arrays.equals(this.bySlot, other.bySlot);
	}

}
