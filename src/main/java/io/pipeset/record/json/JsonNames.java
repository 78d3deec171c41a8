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
 * Looks up the members of an object that templates use, and the members of objects in it.
 * A name with dots is a path, or the name of a member that contains the dots.
 */
final class JsonNames {

	/** Stands for a name that no template uses. */
	static final int NONE = -1;

	/** The bit in {@code lengths} for names of 63 bytes or more. */
	private static final int MAX_BIT = 63;

	private final byte[][] names;

	/** The number of each name; {@link #NONE} if it is only the first part of paths. */
	private final int[] slots;

	private final @Nullable JsonNames[] children;

	/** For each name, the numbers of all names in the object of that name. */
	private final int[][] descendants;

	/** A hash table of the indexes of names, plus 1; 0 for an empty entry. */
	private final int[] table;

	/** A bit for each length that a name has. */
	private final long lengths;

	private JsonNames(Map<String, Entry> entries) {
		int count = entries.size();
		this.names = new byte[count][];
		this.slots = new int[count];
		this.children = new JsonNames[count];
		this.descendants = new int[count][];
		this.table = new int[Integer.highestOneBit(Math.max(count, 1)) * 4];
		long lengths = 0;
		int index = 0;
		for (Map.Entry<String, Entry> entry : entries.entrySet()) {
			byte[] name = entry.getKey().getBytes(StandardCharsets.UTF_8);
			this.names[index] = name;
			this.slots[index] = entry.getValue().slot;
			Map<String, Entry> children = entry.getValue().children;
			this.children[index] = (children.isEmpty()) ? null : new JsonNames(children);
			this.descendants[index] = entry.getValue().descendants.stream().mapToInt(Integer::intValue).toArray();
			int at = hash(name, 0, name.length);
			while (this.table[at] != 0) {
				at = (at + 1) & (this.table.length - 1);
			}
			this.table[at] = ++index;
			lengths |= 1L << Math.min(name.length, MAX_BIT);
		}
		this.lengths = lengths;
	}

	/**
	 * Groups names by the objects that contain them.
	 * @param names the names of templates, in the order of their numbers; each has at
	 * most {@value Template#MOST_STEPS} steps
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
					entry.descendants.add(slot);
					object = entry.children;
				}
				object.computeIfAbsent(last, (key) -> new Entry()).slot = slot;
			}
		}
		return new JsonNames(root);
	}

	/**
	 * Finds a name.
	 * @return its index, or {@link #NONE}
	 */
	int find(byte[] bytes, int offset, int length) {
		if ((this.lengths >>> Math.min(length, MAX_BIT) & 1) == 0) {
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

	/** The number of the name at an index, or {@link #NONE}. */
	int slot(int index) {
		return this.slots[index];
	}

	/** The names of members in the object at an index; {@code null} if there are none. */
	@Nullable JsonNames child(int index) {
		return this.children[index];
	}

	/** The numbers of all names in the object at an index. */
	int[] descendants(int index) {
		return this.descendants[index];
	}

	private int hash(byte[] bytes, int offset, int length) {
		int hash = 1;
		for (int i = offset; i < offset + length; i++) {
			hash = 31 * hash + bytes[i];
		}
		return (hash ^ (hash >>> 16)) & (this.table.length - 1);
	}

	/** A name while names are grouped. */
	private static final class Entry {

		private final Map<String, Entry> children = new LinkedHashMap<>();

		/** The numbers of all names in this object. */
		private final List<Integer> descendants = new ArrayList<>();

		private int slot = NONE;

	}

}
