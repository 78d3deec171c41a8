package io.pipeset.record;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * One record on its way from a body to a slab of commands. A job reads all its records
 * into one object, so that a million records are not a million objects. The arguments
 * point into the reader's buffer, and are valid until the next read.
 */
public final class Record extends SentCommand {

	private static final int NONE = -1;

	private static final int MOST_RAW_BYTES = 1024;

	/** The memory of a word in a report, beside its letters. */
	private static final int WORD_BYTES = 72;

	private final ArgumentBytes decoded;

	private final Encoding defaultEncoding;

	private long index = NONE;

	private long line;

	private @Nullable String id;

	private @Nullable Operation operation;

	private Encoding encoding;

	private final Ttl ttl;

	private @Nullable Rejection rejection;

	private boolean mayHaveRun;

	/** The beginning of the text that the record is read from. */
	private byte[] raw = {};

	private int rawLength;

	/**
	 * Why this record and those behind it are of another database; {@code null} if they
	 * are not.
	 */
	private @Nullable String otherDatabase;

	/** A record whose strings are UTF-8 and that does not expire. */
	public Record() {
		this(RecordDefaults.NONE, MemoryReservation.UNLIMITED);
	}

	public Record(RecordDefaults defaults, MemoryReservation room) {
		super(room);
		this.decoded = new ArgumentBytes(room);
		this.defaultEncoding = defaults.encoding();
		this.ttl = new Ttl(defaults, (defaults.ttlJitter() > 0) ? new SplittableRandom() : null);
		this.encoding = this.defaultEncoding;
	}

	/**
	 * Begins the next record of the job, and forgets everything of the last one but its
	 * index.
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
	}

	/**
	 * Keeps the beginning of a row or line, because parsers decode it in place. A reader
	 * does so ahead of each record.
	 * @param to behind the last byte
	 */
	public void keepRaw(byte[] source, int from, int to) {
		this.rawLength = Math.min(to - from, MOST_RAW_BYTES);
		if (this.raw.length < this.rawLength) {
			this.raw = new byte[MOST_RAW_BYTES];
		}
		System.arraycopy(source, from, this.raw, 0, this.rawLength);
	}

	public void operation(Operation operation) {
		this.operation = operation;
		command(operation);
	}

	/**
	 * Sets the encoding of the record's strings. It has to be set before the first of
	 * them is added.
	 */
	public void encoding(Encoding encoding) {
		this.encoding = encoding;
	}

	/**
	 * Sets the time to live of the key that a SET or HSET writes.
	 * @param source the array that holds it
	 * @return {@code false} if the bytes are no {@link Expiry#isTtl time to live}, which
	 * changes nothing
	 */
	public boolean ttl(byte[] source, int offset, int length) {
		return this.ttl.set(source, offset, length);
	}

	/**
	 * Sets the moment at which the key that a SET or HSET writes expires.
	 * @param source the array that holds it
	 * @return {@code false} if the bytes are no {@link Timestamps#isMoment moment}, which
	 * changes nothing
	 */
	public boolean expireAt(byte[] source, int offset, int length) {
		return this.ttl.setMoment(source, offset, length);
	}

	/** Adds the record's time to live as an argument, in seconds. It has to have one. */
	public void ttlArgument() {
		this.ttl.addTo(this);
	}

	/**
	 * Adds an argument; the first one is the key. A refused record takes no more
	 * arguments, so that none gets the place of another.
	 * @param source the array that holds its bytes; must not change before the next
	 * record
	 */
	public void argument(byte[] source, int offset, int length) {
		if (this.rejection == null) {
			arguments().add(source, offset, length);
		}
	}

	/**
	 * Adds an argument that is given as a string: the bytes that the string stands for by
	 * the record's encoding. The record is refused if the string is not of that encoding.
	 * @param source the array that holds it; must not change before the next record
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
			reject(Rejection.MALFORMED, noBase64(source, offset, length));
		}
	}

	/** The reason to refuse a record with a string that is not Base64. */
	public static String noBase64(byte[] source, int offset, int length) {
		return "'" + Excerpt.of(source, offset, length) + "' is not Base64 with its padding, as encoding=base64 has it";
	}

	/**
	 * Sets the name that the caller gave the record.
	 * @param id at most 256 bytes
	 */
	public void id(String id) {
		this.id = id;
	}

	/**
	 * Refuses the record: it is counted and listed, and nothing of it is sent.
	 * @param message the problem, and what is allowed, for the caller to read
	 */
	public void reject(String code, String message) {
		this.rejection = new Rejection(code, message);
	}

	/**
	 * The body turns to a database. Records of another one than the job's are refused,
	 * until it turns back.
	 * @param reason why they are refused, for the caller to read; {@code null} from where
	 * the body is at the job's own database again
	 */
	public void otherDatabase(@Nullable String reason) {
		this.otherDatabase = reason;
	}

	/** Whether records are refused now, as they are of another database. */
	public boolean isOfOtherDatabase() {
		return this.otherDatabase != null;
	}

	/**
	 * Compares the arguments with the operation's row, and refuses the record if they do
	 * not fit, or if it is of another database.
	 */
	public void check() {
		if (this.rejection == null && this.otherDatabase != null) {
			reject(Rejection.WRONG_DATABASE, this.otherDatabase);
		}
		if (this.rejection == null) {
			String problem = operation().check(this);
			if (problem != null) {
				reject(Rejection.MALFORMED, problem);
			}
		}
	}

	/** Lets a reply of 0 say that there was nothing to do, once the record is checked. */
	public void countReply() {
		effect((effect().isRepeatable()) ? Effect.COUNTED : Effect.COUNTED_ONCE);
	}

	/** Takes note that an earlier run of the job may have run the record. */
	public void setMayHaveRun() {
		this.mayHaveRun = true;
	}

	/**
	 * Whether an earlier run of the job may have run the record.
	 * @return {@code false} until somebody says so
	 */
	public boolean mayHaveRun() {
		return this.mayHaveRun;
	}

	/** The member that gives a HSET which is sent as a script its expiry. */
	public String expiryMember() {
		return (script() == Script.HSET_EXPIRING_AT) ? "expireAt" : "ttl";
	}

	/** The value of that member. */
	public String expiryText() {
		return (script() == Script.HSET_EXPIRING_AT) ? Instant.ofEpochMilli(number(3)).toString() : text(3);
	}

	/** The place of the record in its job, from 0. */
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
	 * The name that the caller gave the record.
	 * @return the id, or {@code null}
	 */
	public @Nullable String id() {
		return this.id;
	}

	/**
	 * The reason why the record is refused.
	 * @return the reason, or {@code null} for a good record
	 */
	public @Nullable Rejection rejection() {
		return this.rejection;
	}

	/**
	 * The operation.
	 * @throws IllegalStateException for a record that names none, which is a rejected one
	 */
	public Operation operation() {
		if (this.operation == null) {
			throw new IllegalStateException("record " + this.index + " has no operation");
		}
		return this.operation;
	}

	/** The encoding of the record's strings, and of the strings that it is answered. */
	public Encoding encoding() {
		return this.encoding;
	}

	/**
	 * Whether the record names an operation of the table.
	 * @return {@code false} only for a rejected record
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
	 * The command as a report shows it, which is a command array that can be posted.
	 * @return its name and its arguments, with the record's encoding
	 */
	public List<Object> commandWords() {
		List<Object> words = new ArrayList<>(1 + argumentCount());
		words.add(command().toString());
		for (int i = 0; i < argumentCount(); i++) {
			words.add(this.encoding.show(source(i), offset(i), offset(i) + length(i)));
		}
		return words;
	}

	/**
	 * The memory that the command takes in a report.
	 * @return the size of its words, and what each takes beside that, in bytes
	 */
	public long commandBytes() {
		long bytes = 0;
		for (int i = 0; i < argumentCount(); i++) {
			bytes += WORD_BYTES + (long) length(i);
		}
		return bytes;
	}

	/**
	 * The memory that a report takes to name the record.
	 * @return the size of its id and its first key, in bytes
	 */
	public long itemBytes() {
		int first = firstKey();
		return ((this.id != null) ? this.id.length() : 0L) + ((first < argumentCount()) ? length(first) : 0);
	}

	/**
	 * The row or line that the record was read from, as a report shows it.
	 * @return 1 KB of it at most, in whole characters; {@code null} if it came from none
	 */
	public @Nullable Object raw() {
		int end = this.rawLength;
		if (end == MOST_RAW_BYTES) {
			int last = end - 1;
			while (last > end - 4 && (this.raw[last] & 0xC0) == 0x80) {
				last--;
			}
			// A character whose end is cut off.
			end = ((this.raw[last] & 0xFF) >= ((end - last == 1) ? 0xC0
					: (end - last == 2) ? 0xE0 : (end - last == 3) ? 0xF0 : 0x100)) ? last : end;
		}
		return (end > 0) ? Encoding.UTF8.show(this.raw, 0, end) : null;
	}

	/**
	 * The memory that a report takes for {@link #raw()}.
	 * @return bytes; two for each character that may be wide
	 */
	public long rawBytes() {
		return (Encoding.isAscii(this.raw, 0, this.rawLength)) ? this.rawLength : WORD_BYTES + 2L * this.rawLength;
	}

	/** The expiry that the record was given. */
	Ttl ttl() {
		return this.ttl;
	}

}
