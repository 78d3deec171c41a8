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
 * The masters of all slots at one moment; never changed. Each change, be it of a slot or
 * of a master, makes another one.
 */
public final class Topology {

	private final @Nullable RedisNode[] bySlot;

	/** The number of each slot's master; 0 also for a slot without one. */
	private final char[] numbers = new char[Slots.COUNT];

	private final IdentityHashMap<RedisNode, Integer> masters = new IdentityHashMap<>();

	/** The master with the number 0. */
	private final @Nullable RedisNode first;

	/**
	 * The master of all slots; {@code null} where there are several, or slots without.
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
	 * Makes the masters of slots.
	 * @param owner the master of each slot, or {@code null}
	 */
	public static Topology of(IntFunction<@Nullable RedisNode> owner) {
		@Nullable RedisNode[] bySlot = new RedisNode[Slots.COUNT];
		Arrays.setAll(bySlot, owner);
		return new Topology(bySlot);
	}

	/**
	 * The master of a slot.
	 * @return the master, or {@code null} where the slot has none
	 */
	public @Nullable RedisNode owner(int slot) {
		return this.bySlot[slot];
	}

	/**
	 * The only master, which has all slots.
	 * @return {@code null} where there are several, or slots without a master
	 */
	public @Nullable RedisNode only() {
		return this.only;
	}

	/**
	 * The master for a record, which answers with an error where the record's slot has
	 * none.
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
	 * Another master, for a record that any can run.
	 * @param node a master that cannot be reached
	 * @return the next one by its number, which is the same if there is no other
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
	 * The number of a slot's master, to look it up in an array.
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
	 * @return {@code false} for one that was replaced, or has given all slots away
	 */
	public boolean isMaster(RedisNode node) {
		return this.masters.containsKey(node);
	}

	/** The number of slots of which a node is the master. */
	int slots(RedisNode node) {
		return (int) Arrays.stream(this.bySlot).filter((master) -> master == node).count();
	}

	/**
	 * The same masters but for one slot.
	 * @return other masters, or these if nothing changes
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
