package io.pipeset.engine.servers;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.pipeset.record.Slots;

/**
 * The slots that a node serves, migrates and imports, from the node's own line of
 * <a href="https://redis.io/docs/latest/commands/cluster-nodes/">CLUSTER NODES</a>.
 */
public final class SlotsAtNode {

	/** The slots of a single server: all slots, none of which ever moves. */
	public static final SlotsAtNode ALL = all();

	private static final int ADDRESS = 1;

	private static final int FLAGS = 2;

	private static final int EPOCH = 6;

	private static final int FIRST_SLOT = 8;

	private static final String MIGRATING = "->-";

	private static final String IMPORTING = "-<-";

	private final BitSet served = new BitSet();

	private final BitSet migrating = new BitSet();

	private final BitSet importing = new BitSet();

	private final Set<String> importerIds = new TreeSet<>();

	private final Set<String> importers = new TreeSet<>();

	private String epoch = "";

	private SlotsAtNode() {
	}

	private static SlotsAtNode all() {
		SlotsAtNode all = new SlotsAtNode();
		all.served.set(0, Slots.COUNT);
		return all;
	}

	/**
	 * Parses the answer of a node.
	 * @param nodes the node's answer to CLUSTER NODES
	 * @return the node's slots; none for a replica
	 */
	public static SlotsAtNode of(String nodes) {
		SlotsAtNode slots = new SlotsAtNode();
		Map<String, String> addresses = new HashMap<>();
		nodes.lines().map((line) -> line.split(" ")).filter((words) -> words.length > EPOCH).forEach((words) -> {
			addresses.put(words[0], words[ADDRESS].split("@", 2)[0]);
			if (words[FLAGS].contains("myself")) {
				slots.epoch = words[EPOCH];
				Arrays.stream(words).skip(FIRST_SLOT).forEach(slots::add);
			}
		});
		addresses.keySet().retainAll(slots.importerIds);
		slots.importers.addAll(addresses.values());
		return slots;
	}

	/** Adds a slot, a range of slots, or a moving slot. */
	private void add(String word) {
		if (word.startsWith("[")) {
			int migrating = word.indexOf(MIGRATING);
			int importing = word.indexOf(IMPORTING);
			if (migrating > 0) {
				this.migrating.set(Integer.parseInt(word.substring(1, migrating)));
				this.importerIds.add(word.substring(migrating + MIGRATING.length(), word.length() - 1));
			}
			else if (importing > 0) {
				this.importing.set(Integer.parseInt(word.substring(1, importing)));
			}
			return;
		}
		int dash = word.indexOf('-');
		int first = Integer.parseInt((dash > 0) ? word.substring(0, dash) : word);
		this.served.set(first, Integer.parseInt(word.substring(dash + 1)) + 1);
	}

	/** Whether this is a single server, whose slots never move. */
	public boolean isSingleServer() {
		return this == ALL;
	}

	/**
	 * Whether the node serves no slot.
	 * @return {@code true} also for a replica
	 */
	public boolean isEmpty() {
		return this.served.isEmpty();
	}

	/**
	 * Whether the node serves a slot.
	 * @return {@code true} also while the slot is migrating
	 */
	public boolean isServed(int slot) {
		return this.served.get(slot);
	}

	/**
	 * Whether the node migrates a slot, so that some of its keys may have left.
	 * @return {@code false} once the node no longer serves the slot
	 */
	public boolean isMigrating(int slot) {
		return this.migrating.get(slot);
	}

	/**
	 * The slots that the node serves.
	 * @return a copy, which the caller may change
	 */
	public BitSet served() {
		return (BitSet) this.served.clone();
	}

	/**
	 * The slots that the node migrates. It still serves them.
	 * @return a copy, which the caller may change
	 */
	public BitSet migrating() {
		return (BitSet) this.migrating.clone();
	}

	/**
	 * The slots that the node imports. Another node still serves them.
	 * @return a copy, which the caller may change
	 */
	public BitSet importing() {
		return (BitSet) this.importing.clone();
	}

	/**
	 * The slots that the node migrates or imports.
	 * @return a copy, which the caller may change
	 */
	public BitSet moving() {
		BitSet slots = importing();
		slots.or(this.migrating);
		return slots;
	}

	/**
	 * The nodes that import slots from this one.
	 * @return host and port of each node
	 */
	public Set<String> importers() {
		return this.importers;
	}

	/**
	 * Whether the node has a new epoch. A cluster assigns one when a node gets slots,
	 * including slots that it had before.
	 * @return {@code true} even if the node has since lost the slots that it got
	 */
	public boolean hasNewEpoch(SlotsAtNode before) {
		return !this.epoch.equals(before.epoch);
	}

}
