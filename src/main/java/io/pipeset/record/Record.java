package io.pipeset.record;

import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * One record, from reading it from a body to adding it to a slab of commands. A job reads
 * all its records into one object, so that a million records do not need a million
 * objects. The arguments point into the reader's buffer, and are valid until the next
 * read.
 */
public final class Record extends SentCommand {

	private static final int NONE = -1;

	private static final int MAX_RAW_BYTES = 1024;

	/** The memory of a word in a report, without its characters, in bytes. */
	private static final int WORD_BYTES = 72;

	private final ArgumentBytes decoded;

	private final RecordDefaults jobDefaults;

	private Encoding defaultEncoding;

	private long index = NONE;

	private long line;

	private @Nullable String id;

	private @Nullable Operation operation;

	private Encoding encoding;

	private Ttl ttl;

	private @Nullable Rejection rejection;

	private boolean mayHaveRun;

	/** How often each warning was given for the record. */
	private final int[] warnings = new int[RecordWarning.values().length];

	private boolean warned;

	/** The first bytes of the row or line that the record is read from. */
	private byte[] raw = {};

	private int rawLength;

	private final MemoryReservation memory;

	/** The number of rows or lines so far. */
	private long rows;

	private boolean keepsWholeRows;

	/** The memory reserved for a whole row, in bytes. */
	private long reservedForRow;

	/** The item that the record is; {@code null} for other records. */
	private @Nullable RowItem item;

	/**
	 * Why this record and the following ones are refused because of their database;
	 * {@code null} if the database is the job's own.
	 */
	private @Nullable String wrongDatabase;

	/** A record with UTF-8 strings and without an expiry. */
	public Record() {
		this(RecordDefaults.NONE, MemoryReservation.UNLIMITED);
	}

	public Record(RecordDefaults defaults, MemoryReservation memory) {
		super(memory);
		this.memory = memory;
		this.decoded = new ArgumentBytes(memory);
		this.jobDefaults = defaults;
		this.defaultEncoding = defaults.encoding();
		this.ttl = new Ttl(defaults, (defaults.ttlJitter() > 0) ? new SplittableRandom() : null);
		this.encoding = this.defaultEncoding;
	}

	/**
	 * Begins the next record of the job: increments the index, and clears the previous
	 * record.
	 * @param line the record's line, from 1, or 0 if the format has none
	 */
	public void begin(long line) {
		clear();
		this.index++;
		this.line = line;
		this.id = null;
		this.operation = null;
		this.encoding = this.defaultEncoding;
		this.ttl.reset();
		this.decoded.clear();
		this.rejection = null;
		this.mayHaveRun = false;
		this.item = null;
		if (this.warned) {
			Arrays.fill(this.warnings, 0);
			this.warned = false;
		}
	}

	/**
	 * Begins again with the index of the record that was begun last, because another
	 * record takes its place.
	 */
	public void takeBack() {
		this.index--;
	}

	/**
	 * Changes the defaults of the following records.
	 * @param defaults the new ones; {@code null} for those of the job
	 */
	public void setDefaults(@Nullable RecordDefaults defaults) {
		RecordDefaults used = (defaults != null) ? defaults : this.jobDefaults;
		this.defaultEncoding = used.encoding();
		this.ttl = new Ttl(used, (used.ttlJitter() > 0) ? new SplittableRandom() : null);
	}

	/** Changes the line of the record, from 1, or 0 if the format has none. */
	public void line(long line) {
		this.line = line;
	}

	/** Sets the item that the record is, or was read from. */
	public void item(@Nullable RowItem item) {
		this.item = item;
	}

	/**
	 * The item that the record is, or was read from.
	 * @return {@code null} for other records
	 */
	public @Nullable RowItem item() {
		return this.item;
	}

	/** Keeps rows and lines whole from now on, and not only their first bytes. */
	public void keepWholeRows() {
		this.keepsWholeRows = true;
	}

	/**
	 * Copies the first bytes of a row or line for the report, because parsers decode it
	 * in place. A reader calls this before each record.
	 * @param to the index after the last byte
	 */
	public void copyRaw(byte[] source, int from, int to) {
		this.rows++;
		this.rawLength = (this.keepsWholeRows) ? to - from : Math.min(to - from, MAX_RAW_BYTES);
		if (this.raw.length < this.rawLength) {
			int size = Math.max(this.rawLength, MAX_RAW_BYTES);
			long more = MemoryReservation.ofArray(size) - this.reservedForRow;
			if (this.keepsWholeRows && more > 0) {
				this.memory.reserve(more);
				this.reservedForRow += more;
			}
			this.raw = new byte[size];
		}
		System.arraycopy(source, from, this.raw, 0, this.rawLength);
	}

	public void operation(Operation operation) {
		this.operation = operation;
		command(operation);
	}

	/**
	 * Takes over the id, operation and arguments of another record, which must not change
	 * before the next record begins.
	 * @param other a record that was not sent; its rejection is not taken over
	 */
	public void copy(Record other) {
		this.id = other.id;
		operation(other.operation());
		for (int i = 0; i < other.argumentCount(); i++) {
			argument(other.source(i), other.offset(i), other.length(i));
		}
	}

	/**
	 * Sets the encoding of the record's strings. Call this before the first string is
	 * added.
	 */
	public void encoding(Encoding encoding) {
		this.encoding = encoding;
	}

	/**
	 * Sets the time to live of the key that a SET or HSET writes.
	 * @param source the array that holds the text
	 * @return {@code false} if the bytes are not a {@link Expiry#ALLOWED time to live};
	 * then nothing changes
	 */
	public boolean ttl(byte[] source, int offset, int length) {
		return this.ttl.set(source, offset, length);
	}

	/**
	 * Sets the time at which the key that a SET or HSET writes expires.
	 * @param source the array that holds the text
	 * @return {@code false} if the bytes are not a {@link Timestamps#ALLOWED timestamp};
	 * then nothing changes
	 */
	public boolean expireAt(byte[] source, int offset, int length) {
		return this.ttl.setTimestamp(source, offset, length);
	}

	/** The zone of timestamps without one; {@code null} if they are refused. */
	public @Nullable ZoneId zone() {
		return this.ttl.zone();
	}

	/**
	 * Adds the record's time to live as an argument, in seconds. The record must have
	 * one.
	 */
	public void ttlArgument() {
		this.ttl.addTo(this);
	}

	/**
	 * Adds an argument. The first one is the key. A refused record takes no more
	 * arguments, so that no argument moves to the position of another one.
	 * @param source the array that holds its bytes; must not change before the next
	 * record
	 */
	public void argument(byte[] source, int offset, int length) {
		if (this.rejection == null) {
			arguments().add(source, offset, length);
		}
	}

	/**
	 * Adds an argument from a string, decoded by the record's encoding. If the string is
	 * not valid in that encoding, the record is refused.
	 * @param source the array that holds its bytes; must not change before the next
	 * record
	 */
	public void string(byte[] source, int offset, int length) {
		if (this.encoding == Encoding.UTF8 || this.rejection != null) {
			argument(source, offset, length);
			return;
		}
		this.decoded.begin();
		if (this.decoded.appendBase64(source, offset, length)) {
			argument(this.decoded.bytes(), this.decoded.start(), this.decoded.length());
		}
		else {
			reject(Rejection.MALFORMED, base64Problem(source, offset, length));
		}
	}

	/** The message for a string that is not Base64. */
	public static String base64Problem(byte[] source, int offset, int length) {
		return "'" + Excerpt.of(source, offset, length)
				+ "' is not Base64 with padding, which encoding=base64 requires";
	}

	/**
	 * Sets the caller's id of the record.
	 * @param id at most 256 bytes
	 */
	public void id(String id) {
		this.id = id;
	}

	/**
	 * Refuses the record: it is counted and listed, and no part of it is sent.
	 * @param message the problem, and what is allowed, for the caller to read
	 */
	public void reject(String code, String message) {
		this.rejection = new Rejection(code, message);
	}

	/**
	 * Sets the reason to refuse this and the following records: they belong to another
	 * database than the job's.
	 * @param reason the message to the caller; {@code null} when the body returns to the
	 * job's own database
	 */
	public void wrongDatabase(@Nullable String reason) {
		this.wrongDatabase = reason;
	}

	/** Whether records are currently refused because they belong to another database. */
	public boolean isOfWrongDatabase() {
		return this.wrongDatabase != null;
	}

	/**
	 * Checks the arguments by the operation's row. The record is refused if they do not
	 * fit, or if the record belongs to another database.
	 */
	public void check() {
		if (this.rejection == null && this.wrongDatabase != null) {
			reject(Rejection.WRONG_DATABASE, this.wrongDatabase);
		}
		if (this.rejection == null) {
			resolve();
		}
		if (this.rejection == null) {
			String problem = operation().check(this);
			if (problem != null) {
				reject(Rejection.MALFORMED, problem);
			}
		}
	}

	/** Takes the operation that the first argument names, if it is one of several. */
	private void resolve() {
		Operation named = operation();
		Operation resolved = named.resolve(this);
		if (resolved == null) {
			reject(Rejection.UNKNOWN_OPERATION,
					"operation '" + named + ((argumentCount() > 0) ? " " + excerpt(0) : "") + "' is not supported");
		}
		else if (resolved != named) {
			operation(resolved);
		}
	}

	/**
	 * Counts the record as a no-op if its reply is 0. Call this after {@link #check()}.
	 */
	public void countReply() {
		effect((effect().isRepeatable()) ? Effect.COUNTED : Effect.COUNTED_ONCE);
	}

	@SuppressWarnings("EnumOrdinal") // an EnumMap would box the counts
	void warn(RecordWarning warning) {
		this.warnings[warning.ordinal()]++;
		this.warned = true;
	}

	/** Whether there is a warning about the record. */
	public boolean isWarnedOf() {
		return this.warned;
	}

	/** How often a warning was given for the record. */
	@SuppressWarnings("EnumOrdinal")
	public int warnings(RecordWarning warning) {
		return this.warnings[warning.ordinal()];
	}

	/** Whether the reply holds a value that the record has replaced: a SET with GET. */
	public boolean returnsOldValue() {
		return this.operation == Operation.SET
				&& IntStream.range(2, argumentCount()).anyMatch((word) -> arguments().isWord(word, "GET"));
	}

	/** Marks the record as one that an earlier run of the job may have run. */
	public void setMayHaveRun() {
		this.mayHaveRun = true;
	}

	/**
	 * Whether an earlier run of the job may have run the record.
	 * @return {@code true} after {@link #setMayHaveRun()}
	 */
	public boolean mayHaveRun() {
		return this.mayHaveRun;
	}

	/** For an HSET that is sent as a script: the name of the member with its expiry. */
	public String expiryMember() {
		return (script() == Script.HSET_EXPIRING_AT) ? "expireAt" : "ttl";
	}

	/** The value of the member {@link #expiryMember()}. */
	public String expiryText() {
		return (script() == Script.HSET_EXPIRING_AT) ? Instant.ofEpochMilli(number(3)).toString() : text(3);
	}

	/** The position of the record in its job, from 0. */
	public long index() {
		return this.index;
	}

	/**
	 * The line of the record in its body, from 1.
	 * @return the line, or 0 if the format has none
	 */
	public long line() {
		return this.line;
	}

	/**
	 * The caller's id of the record.
	 * @return the id, or {@code null}
	 */
	public @Nullable String id() {
		return this.id;
	}

	/**
	 * The reason why the record is refused.
	 * @return the reason, or {@code null} for a valid record
	 */
	public @Nullable Rejection rejection() {
		return this.rejection;
	}

	/**
	 * The operation.
	 * @throws IllegalStateException if the record names none; then it is refused
	 */
	public Operation operation() {
		if (this.operation == null) {
			throw new IllegalStateException("record " + this.index + " has no operation");
		}
		return this.operation;
	}

	/** The encoding of the record's strings, and of the strings in its reply. */
	public Encoding encoding() {
		return this.encoding;
	}

	/**
	 * Whether the record names a supported operation.
	 * @return {@code false} only for a refused record
	 */
	public boolean hasOperation() {
		return this.operation != null;
	}

	/**
	 * The first key as a report shows it.
	 * @return the key, or {@code null} if the record has none, or was refused before its
	 * key was read
	 */
	public @Nullable Object key() {
		int first = firstKey();
		boolean named = (first > 0) ? keyCount() > 0 : argumentCount() > 0;
		return (named) ? this.encoding.show(source(first), offset(first), offset(first) + length(first)) : null;
	}

	/**
	 * The command as a report shows it: a command array that can be posted again.
	 * @return the name and the arguments, in the record's encoding
	 */
	public List<Object> commandWords() {
		List<Object> words = new ArrayList<>(1 + argumentCount());
		words.add(command().word());
		for (int i = 0; i < argumentCount(); i++) {
			words.add(this.encoding.show(source(i), offset(i), offset(i) + length(i)));
		}
		return words;
	}

	/**
	 * The memory that the command's arguments need in a report.
	 * @return bytes, including a fixed amount for each argument
	 */
	public long commandBytes() {
		long bytes = 0;
		for (int i = 0; i < argumentCount(); i++) {
			bytes += WORD_BYTES + (long) length(i);
		}
		return bytes;
	}

	/**
	 * The memory that the record's id and first key need in a report.
	 * @return bytes
	 */
	public long itemBytes() {
		int first = firstKey();
		return ((this.id != null) ? this.id.length() : 0L) + ((first < argumentCount()) ? length(first) : 0);
	}

	/**
	 * The row or line that the record was read from, as a report shows it.
	 * @return at most 1 KB, in whole characters; {@code null} if the record has no row or
	 * line
	 */
	public @Nullable Object raw() {
		int end = this.rawLength;
		if (end == MAX_RAW_BYTES && !this.keepsWholeRows) {
			int last = end - 1;
			while (last > end - 4 && (this.raw[last] & 0xC0) == 0x80) {
				last--;
			}
			// Leave out a character whose end is cut off.
			end = ((this.raw[last] & 0xFF) >= ((end - last == 1) ? 0xC0
					: (end - last == 2) ? 0xE0 : (end - last == 3) ? 0xF0 : 0x100)) ? last : end;
		}
		return (end > 0) ? Encoding.UTF8.show(this.raw, 0, end) : null;
	}

	/**
	 * The number of the row or line that the record was read from.
	 * @return the same number for all records of one row
	 */
	public long row() {
		return this.rows;
	}

	/** Sets the number of the row, from 1, where it is not that of what was read. */
	public void row(long row) {
		this.rows = row;
	}

	/**
	 * The memory that {@link #raw()} needs in a report.
	 * @return bytes; two for each character that may not be ASCII
	 */
	public long rawBytes() {
		return (Encoding.isAscii(this.raw, 0, this.rawLength)) ? this.rawLength : WORD_BYTES + 2L * this.rawLength;
	}

	/** The record's expiry. */
	Ttl ttl() {
		return this.ttl;
	}

}
