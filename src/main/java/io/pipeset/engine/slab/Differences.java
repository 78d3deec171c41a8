package io.pipeset.engine.slab;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The records that differ so far, by the key and the part of it that differs. A part has
 * at most one of them: the last record that wrote it.
 */
final class Differences {

	/** The part that is the whole key. */
	static final String WHOLE = "";

	/** The part that is the expiry of the key. */
	static final String EXPIRY = "e";

	/** What the names of other parts begin with. */
	static final String PART = "p";

	/** The most parts. */
	static final int MOST = 1_000_000;

	/** The memory of a part, without its characters, in bytes. */
	private static final int PART_BYTES = 320;

	private final MemoryReservation memory;

	private final Map<String, Map<String, Difference>> byKey = new HashMap<>();

	private int parts;

	Differences(MemoryReservation memory) {
		this.memory = memory;
	}

	/** Adds a part that differs; {@code false} if there are too many. */
	boolean add(String key, String part, Difference difference) {
		if (get(key, part) == difference) {
			// The record names it twice.
			return true;
		}
		if (this.parts >= MOST || !this.memory.tryReserve(bytes(key, part))) {
			return false;
		}
		this.parts++;
		difference.parts++;
		this.byKey.computeIfAbsent(key, (name) -> new HashMap<>(2)).put(part, difference);
		return true;
	}

	private static int bytes(String key, String part) {
		return PART_BYTES + key.length() + part.length();
	}

	/** The record because of which a part differs, or {@code null}. */
	@Nullable Difference get(String key, String part) {
		Map<String, Difference> ofKey = this.byKey.get(key);
		return (ofKey != null) ? ofKey.get(part) : null;
	}

	/**
	 * Takes a part away, because a later record writes or removes it.
	 * @return the record if nothing is left of it, else {@code null}
	 */
	@Nullable Difference remove(String key, String part) {
		Map<String, Difference> ofKey = this.byKey.get(key);
		Difference found = (ofKey != null) ? ofKey.remove(part) : null;
		if (found == null || ofKey == null) {
			return null;
		}
		if (ofKey.isEmpty()) {
			this.byKey.remove(key);
		}
		this.parts--;
		this.memory.release(bytes(key, part));
		return (--found.parts == 0) ? found : null;
	}

	/** The parts of a key that differ. */
	List<String> parts(String key) {
		Map<String, Difference> ofKey = this.byKey.get(key);
		return (ofKey != null) ? List.copyOf(ofKey.keySet()) : List.of();
	}

	/** The keys that differ. */
	List<String> keys() {
		return List.copyOf(this.byKey.keySet());
	}

	boolean isEmpty() {
		return this.parts == 0;
	}

	/** The records that differ, in their order. */
	List<Difference> all() {
		Set<Difference> all = Collections.newSetFromMap(new IdentityHashMap<>());
		this.byKey.values().forEach((ofKey) -> all.addAll(ofKey.values()));
		List<Difference> sorted = new ArrayList<>(all);
		sorted.sort(Comparator.comparingLong((one) -> one.index));
		return sorted;
	}

}
