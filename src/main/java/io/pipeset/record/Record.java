package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * One record on its way from a body to a slab of commands. A flyweight: a job reads every
 * record into the same one, whose arguments point into the reader's buffer, so that a
 * million records are not a million objects. What it holds is valid until the next read.
 */
public final class Record {

	private static final int NONE = -1;

	private static final int MOST_DIGITS = 19;

	private long index = NONE;

	private long line;

	private @Nullable String id;

	private @Nullable Operation operation;

	private Form form = Form.ONCE;

	private byte[][] sources = new byte[8][];

	private int[] offsets = new int[8];

	private int[] lengths = new int[8];

	private int argumentCount;

	private @Nullable Rejection rejection;

	/**
	 * Makes room for the next record of the job: everything but the count of records is
	 * forgotten.
	 * @param line the record's line, from 1, or 0 where the format has none
	 */
	public void begin(long line) {
		this.index++;
		this.line = line;
		this.id = null;
		this.operation = null;
		this.argumentCount = 0;
		this.rejection = null;
	}

	/**
	 * Names the operation.
	 * @param operation a row of the table
	 */
	public void operation(Operation operation) {
		this.operation = operation;
		this.form = operation.form();
	}

	/** Sets the form that the record's options ask for. */
	void form(Form form) {
		this.form = form;
	}

	/**
	 * Adds an argument, the key being the first.
	 * @param source where its bytes stand; must not change before the next record
	 * @param offset its first byte
	 * @param length its length in bytes
	 */
	public void argument(byte[] source, int offset, int length) {
		int i = this.argumentCount;
		if (i == this.lengths.length) {
			this.sources = Arrays.copyOf(this.sources, i * 2);
			this.offsets = Arrays.copyOf(this.offsets, i * 2);
			this.lengths = Arrays.copyOf(this.lengths, i * 2);
		}
		this.sources[i] = source;
		this.offsets[i] = offset;
		this.lengths[i] = length;
		this.argumentCount = i + 1;
	}

	/**
	 * Sets the caller's own name of the record.
	 * @param id at most 256 bytes
	 */
	public void id(String id) {
		this.id = id;
	}

	/**
	 * Refuses the record: it is counted and listed, and nothing of it is sent.
	 * @param code the error's code
	 * @param message what was wrong and what is allowed, for the caller to read
	 */
	public void reject(String code, String message) {
		this.rejection = new Rejection(code, message);
	}

	/**
	 * Holds what was read against the operation's row, and refuses the record where it
	 * does not fit.
	 */
	public void check() {
		if (this.rejection == null) {
			String problem = operation().check(this);
			if (problem != null) {
				reject(Rejection.MALFORMED, problem);
			}
		}
	}

	/**
	 * The place of the record in its job, from 0.
	 * @return the index
	 */
	public long index() {
		return this.index;
	}

	/**
	 * The line of the record in its body, from 1.
	 * @return the line, or 0 where the format has none
	 */
	public long line() {
		return this.line;
	}

	/**
	 * The caller's own name of the record.
	 * @return the id, or {@code null}
	 */
	public @Nullable String id() {
		return this.id;
	}

	/**
	 * Why the record is refused.
	 * @return the reason, or {@code null} for a good record
	 */
	public @Nullable Rejection rejection() {
		return this.rejection;
	}

	/**
	 * The operation.
	 * @return a row of the table
	 * @throws IllegalStateException for a record that names none, which is a rejected one
	 */
	public Operation operation() {
		if (this.operation == null) {
			throw new IllegalStateException("record " + this.index + " has no operation");
		}
		return this.operation;
	}

	/**
	 * What there is to know of the record once it is sent.
	 * @return its operation's form, or the one its options ask for once it is checked
	 */
	public Form form() {
		return this.form;
	}

	/**
	 * Whether the record got as far as naming its operation.
	 * @return {@code false} only for a rejected record
	 */
	public boolean hasOperation() {
		return this.operation != null;
	}

	/**
	 * The number of arguments after the operation's name.
	 * @return 0 or more
	 */
	public int argumentCount() {
		return this.argumentCount;
	}

	/**
	 * Where an argument's bytes stand.
	 * @param argument its position, from 0
	 * @return the array; not to be modified
	 */
	public byte[] source(int argument) {
		return this.sources[argument];
	}

	/**
	 * An argument's first byte in its {@link #source(int) source}.
	 * @param argument its position, from 0
	 * @return the offset
	 */
	public int offset(int argument) {
		return this.offsets[argument];
	}

	/**
	 * An argument's length.
	 * @param argument its position, from 0
	 * @return the length in bytes
	 */
	public int length(int argument) {
		return this.lengths[argument];
	}

	/**
	 * How many of the arguments are keys, which stand together.
	 * @return 0 or more; 0 only for a script that names none, and so may use any
	 */
	public int keyCount() {
		int first = operation().firstKey();
		long counted = (first > 0 && first <= this.argumentCount) ? number(first - 1) : 0;
		return operation().keyCount(this.argumentCount, counted);
	}

	/**
	 * The first key as text, for messages.
	 * @return the text, with U+FFFD for what is not UTF-8, or {@code null} where the
	 * record has none, or did not get as far as naming it
	 */
	public @Nullable String key() {
		int first = (this.operation != null) ? this.operation.firstKey() : 0;
		boolean named = (this.operation != null && first > 0) ? keyCount() > 0 : this.argumentCount > 0;
		return (named) ? text(first) : null;
	}

	/**
	 * An argument as text, for messages.
	 * @param argument its position, from 0
	 * @return the text, with U+FFFD for what is not UTF-8
	 */
	public String text(int argument) {
		return new String(this.sources[argument], this.offsets[argument], this.lengths[argument],
				StandardCharsets.UTF_8);
	}

	/**
	 * The hash of the first key, by which a record finds its lane.
	 * @return any int; the same for the same bytes
	 */
	public int keyHash() {
		int key = operation().firstKey();
		int hash = 1;
		byte[] source = this.sources[key];
		int end = this.offsets[key] + this.lengths[key];
		for (int i = this.offsets[key]; i < end; i++) {
			hash = 31 * hash + source[i];
		}
		return hash ^ (hash >>> 16);
	}

	/**
	 * An argument as a whole number, as strictly as Redis reads one.
	 * @param argument its position, from 0
	 * @return the number, 0 to {@link Long#MAX_VALUE}, or -1 where it is none
	 */
	public long number(int argument) {
		byte[] source = this.sources[argument];
		int from = this.offsets[argument];
		int length = this.lengths[argument];
		if (length == 0 || length > MOST_DIGITS || (source[from] == '0' && length > 1)) {
			return NONE;
		}
		long number = 0;
		for (int i = from; i < from + length; i++) {
			int digit = source[i] - '0';
			if (digit < 0 || digit > 9) {
				return NONE;
			}
			number = number * 10 + digit;
		}
		return (number < 0) ? NONE : number;
	}

}
