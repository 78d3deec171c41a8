package io.pipeset.engine.slab;

import java.util.Arrays;

import io.pipeset.record.Effect;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * One row for each command of a slab: the record's index, the command that is sent, and
 * the start of its bytes.
 */
final class CommandTable {

	private static final Effect[] EFFECTS = Effect.values();

	private static final Encoding[] ENCODINGS = Encoding.values();

	private static final int NEEDS_REPLY = 1 << 7;

	/** Bytes of memory for a row, rounded up. */
	private static final int ROW_BYTES = 32;

	private int count;

	private long[] indexes;

	private long[] lines;

	private int[] starts;

	/**
	 * Ten bits each for the numbers of the operation and of the command sent, four for
	 * the effect, the flag of {@link #needsReply}, which is read for every reply, and the
	 * encoding.
	 */
	private int[] kinds;

	private final RecordIds ids;

	/**
	 * Creates an empty table.
	 * @param rows the rows that it holds before it grows
	 * @param reservation the memory for ids; the caller takes the memory for rows
	 */
	CommandTable(int rows, MemoryReservation reservation) {
		this.indexes = new long[rows];
		this.lines = new long[rows];
		this.starts = new int[rows];
		this.kinds = new int[rows];
		this.ids = new RecordIds(reservation);
	}

	/** The memory of a table with this many rows, without the records' ids. */
	static long bytesOf(int rows) {
		return (long) rows * ROW_BYTES;
	}

	void clear() {
		this.ids.clear();
		this.count = 0;
	}

	/**
	 * Adds a row, for which the table must be large enough.
	 * @param reads whether the record is only compared, so that a repeat does no harm
	 * @return {@code false} if there is no memory for the record's id
	 */
	boolean add(Record record, int start, boolean reads) {
		if (!this.ids.set(this.count, record.id())) {
			return false;
		}
		int command = this.count++;
		this.indexes[command] = record.index();
		this.lines[command] = record.line();
		this.starts[command] = start;
		this.kinds[command] = kind(record, (reads) ? Effect.REPEATABLE : record.effect());
		return true;
	}

	void reserve(Record record) {
		this.ids.reserve(this.count, record.id());
	}

	@SuppressWarnings("EnumOrdinal") // references would take four times the memory
	private static int kind(Record record, Effect effect) {
		return (record.operation().number() << 22) | (record.command().number() << 12) | (effect.ordinal() << 8)
				| ((effect.needsReply()) ? NEEDS_REPLY : 0) | record.encoding().ordinal();
	}

	void move(int from, int to, int start) {
		this.indexes[to] = this.indexes[from];
		this.lines[to] = this.lines[from];
		this.starts[to] = start;
		this.kinds[to] = this.kinds[from];
		this.ids.move(from, to);
	}

	void truncate(int rows) {
		this.count = rows;
	}

	/** How many rows fit before the table has to grow. */
	int capacity() {
		return this.indexes.length;
	}

	void grow(int rows) {
		if (rows > capacity()) {
			this.indexes = Arrays.copyOf(this.indexes, rows);
			this.lines = Arrays.copyOf(this.lines, rows);
			this.starts = Arrays.copyOf(this.starts, rows);
			this.kinds = Arrays.copyOf(this.kinds, rows);
		}
	}

	int count() {
		return this.count;
	}

	long index(int command) {
		return this.indexes[command];
	}

	long line(int command) {
		return this.lines[command];
	}

	int start(int command) {
		return this.starts[command];
	}

	@Nullable String id(int command) {
		return this.ids.get(command);
	}

	/** Whether two rows have the same operation, command and effect. */
	boolean isSameCommand(int command, int other) {
		return (this.kinds[command] ^ this.kinds[other]) >>> 8 == 0;
	}

	Operation operation(int command) {
		return Operation.of(this.kinds[command] >>> 22);
	}

	/**
	 * The operation whose command is sent. It may differ from the record's own operation.
	 */
	Operation sentAs(int command) {
		return Operation.of((this.kinds[command] >>> 12) & 0x3FF);
	}

	/** The effect of the record with its options. */
	Effect effect(int command) {
		return EFFECTS[(this.kinds[command] >> 8) & 0xF];
	}

	/**
	 * Whether the outcome depends on the content of the reply, even if the report shows
	 * no replies.
	 */
	boolean needsReply(int command) {
		return (this.kinds[command] & NEEDS_REPLY) != 0;
	}

	/** The encoding of the strings in the record and in its reply. */
	Encoding encoding(int command) {
		return ENCODINGS[this.kinds[command] & 0x7F];
	}

}
