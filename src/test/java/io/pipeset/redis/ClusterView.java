package io.pipeset.redis;

import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What one node of a cluster believes of the masters.
 *
 * @param masters what each master that is not failing claims, by its id
 */
record ClusterView(Map<String, Claim> masters) {

	/** Reads the answer of CLUSTER NODES. */
	static ClusterView of(String clusterNodes) {
		Map<String, Claim> masters = new HashMap<>();
		for (String line : clusterNodes.lines().toList()) {
			String[] fields = line.split(" ");
			List<String> flags = List.of(fields[2].split(","));
			if (flags.contains("master") && !flags.contains("fail")) {
				masters.put(fields[0], new Claim(slots(fields), Long.parseLong(fields[6])));
			}
		}
		return new ClusterView(masters);
	}

	private static BitSet slots(String[] fields) {
		BitSet slots = new BitSet();
		Stream.of(fields)
			.skip(8)
			.filter((range) -> !range.startsWith("["))
			.map((range) -> range.split("-"))
			.forEach((range) -> slots.set(Integer.parseInt(range[0]), Integer.parseInt(range[range.length - 1]) + 1));
		return slots;
	}

	/** The slots that a master has. */
	BitSet slots(String id) {
		Claim claim = this.masters.get(id);
		return (claim != null) ? claim.slots() : new BitSet();
	}

	/**
	 * Whether all nodes believe the same, and no two masters have the same epoch. Until
	 * then a message on its way may take a slot from the master that has just got it.
	 */
	static boolean agree(List<ClusterView> views) {
		Map<String, Claim> masters = views.get(0).masters();
		return views.stream().allMatch((view) -> view.masters().equals(masters))
				&& masters.values().stream().map(Claim::epoch).allMatch(new HashSet<>()::add);
	}

	/** What a master claims: the master of the greater epoch has a slot. */
	record Claim(BitSet slots, long epoch) {
	}

}
