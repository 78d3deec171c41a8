package io.pipeset.keyspace;

import java.util.Arrays;

import io.pipeset.record.room.Room;
import org.jspecify.annotations.Nullable;

/**
 * The totals of each prefix, in flat arrays. There is room for twice the prefixes that an
 * answer may list. Once it is full, the smaller half is left out: it is added to the row
 * of the others. A prefix that comes again after that has a row again, which says that it
 * is only a part.
 */
final class PrefixTable {

	/** The row of keys without a prefix. */
	static final int NONE = 0;

	/** The row of all prefixes that are left out. */
	static final int OTHER = 1;

	private static final int FIRST = 2;

	private static final int FIRST_ROWS = 256;

	/** With its slots, and its keys of each type. */
	private static final int BYTES_OF_ROW = 128;

	/** The bytes of prefixes, for each that may be listed. */
	private static final int TEXT_BYTES_OF_ROW = 256;

	private final int most;

	private boolean byBytes;

	private final Room room;

	private final PrefixIndex index = new PrefixIndex();

	private int rows;

	private long[] keys = new long[0];

	private long[] bytes = new long[0];

	private long[] withoutTtl = new long[0];

	/** Whether some keys of the prefix may count as others. */
	private boolean[] partial = new boolean[0];

	/** The keys of each type, by its number and by row. */
	private long[][] keysOfType = new long[0][];

	private long omitted;

	private @Nullable PrefixFilter leftOut;

	/**
	 * An empty table.
	 * @param most the prefixes that are listed, at most
	 * @param byBytes whether prefixes with fewer bytes are left out, and not those with
	 * fewer keys
	 */
	PrefixTable(int most, boolean byBytes, Room room) {
		this.most = most;
		this.byBytes = byBytes;
		this.room = room;
		clear();
	}

	void clear() {
		this.room
			.give((long) Math.max(0, this.index.capacity() - FIRST_ROWS) * BYTES_OF_ROW + this.index.text().length);
		resizeRows(FIRST_ROWS);
		this.index.clear();
		this.rows = FIRST;
		this.keysOfType = new long[0][];
		this.omitted = 0;
		this.leftOut = null;
		for (long[] column : new long[][] { this.keys, this.bytes, this.withoutTtl }) {
			Arrays.fill(column, 0);
		}
		this.index.index(FIRST, this.rows);
	}

	/**
	 * Adds a key to the total of its prefix.
	 * @param to the byte behind it; -1 for a key without one
	 * @param size the memory of the key
	 * @param forever whether the key has no TTL
	 */
	void count(byte[] source, int from, int to, int type, long size, boolean forever) {
		int row = (to < 0) ? NONE : row(source, from, to - from);
		this.keys[row]++;
		this.bytes[row] += size;
		this.withoutTtl[row] += (forever) ? 1 : 0;
		column(type)[row]++;
	}

	private long[] column(int type) {
		if (type >= this.keysOfType.length) {
			this.keysOfType = Arrays.copyOf(this.keysOfType, type + 1);
		}
		long[] column = this.keysOfType[type];
		if (column == null) {
			column = new long[this.index.capacity()];
			this.keysOfType[type] = column;
		}
		return column;
	}

	private int row(byte[] source, int from, int length) {
		long hash = this.index.hash(source, from, length);
		int row = this.index.find(hash, source, from, length);
		return (row != 0) ? row : add(source, from, length, hash);
	}

	private int add(byte[] source, int from, int length, long hash) {
		boolean again = this.leftOut != null && this.leftOut.mayContain(hash);
		boolean fits = length <= mostTextBytes() / 16;
		if (fits && !hasRoomFor(length)) {
			leaveOut(Math.min(this.most, (this.rows - FIRST) / 2));
			fits = hasRoomFor(length);
		}
		if (!fits) {
			this.omitted += (again) ? 0 : 1;
			leftOut().add(hash);
			return OTHER;
		}
		this.omitted -= (again && this.omitted > 0) ? 1 : 0;
		int row = this.rows++;
		this.partial[row] = again;
		this.index.add(row, hash, source, from, length);
		return row;
	}

	private boolean hasRoomFor(int length) {
		if (this.rows == this.index.capacity()) {
			int size = (int) Math.min(2L * this.rows, 2L * this.most + FIRST);
			if (size <= this.rows || !this.room.tryTake((long) (size - this.rows) * BYTES_OF_ROW)) {
				return false;
			}
			resizeRows(size);
			this.index.index(FIRST, this.rows);
		}
		long needed = (long) this.index.textBytes() + length;
		int held = this.index.text().length;
		if (needed > held) {
			long size = Math.min(mostTextBytes(), Math.max(2L * held, needed + 4096));
			if (needed > size || !this.room.tryTake(size - held)) {
				return false;
			}
			this.index.resizeText((int) size);
		}
		return true;
	}

	private long mostTextBytes() {
		return (long) Math.max(FIRST_ROWS, this.most) * TEXT_BYTES_OF_ROW;
	}

	private void resizeRows(int size) {
		this.index.resizeRows(size);
		this.partial = Arrays.copyOf(this.partial, size);
		this.keys = Arrays.copyOf(this.keys, size);
		this.bytes = Arrays.copyOf(this.bytes, size);
		this.withoutTtl = Arrays.copyOf(this.withoutTtl, size);
		for (int type = 0; type < this.keysOfType.length; type++) {
			if (this.keysOfType[type] != null) {
				this.keysOfType[type] = Arrays.copyOf(this.keysOfType[type], size);
			}
		}
	}

	/** Leaves out the smallest prefixes beyond the number that an answer may list. */
	void finish() {
		leaveOut(this.most);
	}

	/** Leaves out all but the largest prefixes. */
	private void leaveOut(int kept) {
		int listed = this.rows - FIRST;
		if (listed <= kept) {
			return;
		}
		long[] weights = Arrays.copyOfRange(weights(), FIRST, this.rows);
		Arrays.sort(weights);
		long least = (kept > 0) ? weights[listed - kept] : Long.MAX_VALUE;
		int ties = kept;
		for (int i = listed - 1; i >= 0 && weights[i] > least; i--) {
			ties--;
		}
		int end = this.rows;
		this.rows = FIRST;
		this.index.beginAnew();
		for (int row = FIRST; row < end; row++) {
			long weight = weights()[row];
			boolean stays = weight > least || (weight == least && ties-- > 0);
			if (stays) {
				move(row, this.rows++);
			}
			else {
				leftOut().add(this.index.hash(row));
				this.omitted++;
				fold(row);
			}
		}
		for (long[] column : columns()) {
			Arrays.fill(column, this.rows, end, 0);
		}
		this.index.index(FIRST, this.rows);
	}

	/** Leaves out prefixes with fewer keys from now on, as their bytes are not known. */
	void weighByKeys() {
		this.byBytes = false;
	}

	private long[] weights() {
		return (this.byBytes) ? this.bytes : this.keys;
	}

	private void move(int from, int to) {
		this.index.keep(from, to);
		this.partial[to] = this.partial[from];
		for (long[] column : columns()) {
			column[to] = column[from];
		}
	}

	private void fold(int row) {
		for (long[] column : columns()) {
			column[OTHER] += column[row];
		}
	}

	private long[][] columns() {
		long[][] columns = new long[3 + this.keysOfType.length][];
		int count = 0;
		for (long[] column : this.keysOfType) {
			if (column != null) {
				columns[count++] = column;
			}
		}
		columns[count++] = this.keys;
		columns[count++] = this.bytes;
		columns[count++] = this.withoutTtl;
		return Arrays.copyOf(columns, count);
	}

	private PrefixFilter leftOut() {
		if (this.leftOut == null) {
			this.leftOut = new PrefixFilter();
		}
		return this.leftOut;
	}

	/** The number of rows, with those of no prefix and of all others. */
	int rows() {
		return this.rows;
	}

	/** Whether some keys of a row's prefix may be with the others. */
	boolean isPartial(int row) {
		return row >= FIRST && this.partial[row];
	}

	/** The prefixes that have no row, or fewer where they were millions. */
	long omitted() {
		return this.omitted;
	}

	/** The prefixes of the rows. */
	PrefixIndex index() {
		return this.index;
	}

	long keys(int row) {
		return this.keys[row];
	}

	long bytes(int row) {
		return this.bytes[row];
	}

	long withoutTtl(int row) {
		return this.withoutTtl[row];
	}

	long keysOfType(int row, int type) {
		return (type < this.keysOfType.length && this.keysOfType[type] != null) ? this.keysOfType[type][row] : 0;
	}

}
