package io.pipeset.record.json;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.pipeset.record.mapping.Template;
import org.jspecify.annotations.Nullable;

/**
 * The members of an object that templates name, and those of the objects in it. A name
 * with dots is a path, and also that of a member that has the dots in its name.
 */
final class JsonNames {

	/** Says that no template has a name. */
	static final int NONE = -1;

	/** The longest length of a name that has a bit of its own. */
	private static final int MOST_BITS = 63;

	private final byte[][] names;

	/** The number of each name, or {@link #NONE} if it is only the beginning of paths. */
	private final int[] slots;

	private final @Nullable JsonNames[] children;

	/** The numbers of all names of the objects in each member. */
	private final int[][] below;

	/** The places of names by their hash, one more than they are; 0 for none. */
	private final int[] table;

	/** The lengths that names have. */
	private final long lengths;

	private JsonNames(Map<String, Entry> entries) {
		int count = entries.size();
		this.names = new byte[count][];
		this.slots = new int[count];
		this.children = new JsonNames[count];
		this.below = new int[count][];
		this.table = new int[Integer.highestOneBit(Math.max(count, 1)) * 4];
		long lengths = 0;
		int place = 0;
		for (Map.Entry<String, Entry> entry : entries.entrySet()) {
			byte[] name = entry.getKey().getBytes(StandardCharsets.UTF_8);
			this.names[place] = name;
			this.slots[place] = entry.getValue().slot;
			Map<String, Entry> inner = entry.getValue().inner;
			this.children[place] = (inner.isEmpty()) ? null : new JsonNames(inner);
			this.below[place] = entry.getValue().below.stream().mapToInt(Integer::intValue).toArray();
			int at = hash(name, 0, name.length);
			while (this.table[at] != 0) {
				at = (at + 1) & (this.table.length - 1);
			}
			this.table[at] = ++place;
			lengths |= 1L << Math.min(name.length, MOST_BITS);
		}
		this.lengths = lengths;
	}

	/**
	 * Sorts names by the objects that they are in.
	 * @param names the names of templates, by their number, each of
	 * {@value Template#MOST_STEPS} steps at most
	 */
	static JsonNames of(List<String> names) {
		Map<String, Entry> root = new LinkedHashMap<>();
		for (int slot = 0; slot < names.size(); slot++) {
			String name = names.get(slot);
			if (!name.equals(Template.WHOLE)) {
				root.computeIfAbsent(name, (key) -> new Entry()).slot = slot;
				List<String> path = new ArrayList<>(Arrays.asList(name.split("\\.", -1)));
				String last = path.remove(path.size() - 1);
				Map<String, Entry> object = root;
				for (String step : path) {
					Entry entry = object.computeIfAbsent(step, (key) -> new Entry());
					entry.below.add(slot);
					object = entry.inner;
				}
				object.computeIfAbsent(last, (key) -> new Entry()).slot = slot;
			}
		}
		return new JsonNames(root);
	}

	/**
	 * Finds a name.
	 * @return its place, or {@link #NONE}
	 */
	int find(byte[] bytes, int offset, int length) {
		if ((this.lengths >>> Math.min(length, MOST_BITS) & 1) == 0) {
			return NONE;
		}
		int at = hash(bytes, offset, length);
		while (this.table[at] != 0) {
			byte[] name = this.names[this.table[at] - 1];
			if (Arrays.equals(name, 0, name.length, bytes, offset, offset + length)) {
				return this.table[at] - 1;
			}
			at = (at + 1) & (this.table.length - 1);
		}
		return NONE;
	}

	/** The number of the name at a place, or {@link #NONE}. */
	int slot(int place) {
		return this.slots[place];
	}

	/** The names of members of the member at a place, if any. */
	@Nullable JsonNames child(int place) {
		return this.children[place];
	}

	/** The numbers of all names in the member at a place. */
	int[] below(int place) {
		return this.below[place];
	}

	private int hash(byte[] bytes, int offset, int length) {
		int hash = 1;
		for (int i = offset; i < offset + length; i++) {
			hash = 31 * hash + bytes[i];
		}
		return (hash ^ (hash >>> 16)) & (this.table.length - 1);
	}

	/** A name while the names are sorted. */
	private static final class Entry {

		private final Map<String, Entry> inner = new LinkedHashMap<>();

		/** The numbers of all names in the object. */
		private final List<Integer> below = new ArrayList<>();

		private int slot = NONE;

	}

}
