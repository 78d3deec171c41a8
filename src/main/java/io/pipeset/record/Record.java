package io.pipeset.record;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * One record on its way from a body to a slab of commands. A flyweight: a job reads every
 * record into the same one, whose arguments point into the reader's buffer, so that a
 * million records are not a million objects. What it holds is valid until the next read.
 */
public final class Record {

	private static final int NONE = -1;

	private static final byte[] EX = { 'E', 'X' };

	private static final byte[] ONE = { '1' };

	private final Base64Bytes base64;

	private final Encoding defaultEncoding;

	private final byte[] defaultTtl;

	private final Arguments arguments;

	private long index = NONE;

	private long line;

	private @Nullable String id;

	private @Nullable Operation operation;

	private Form form = Form.ONCE;

	/**
	 * What is sent, which is another one where a script has to do more than the first.
	 */
	private @Nullable Operation command;

	private @Nullable Script script;

	private Encoding encoding;

	private final Ttl ttl = new Ttl();

	private @Nullable Rejection rejection;

	/** A record whose strings are UTF-8 and that does not expire. */
	public Record() {
		this(RecordDefaults.NONE, Room.UNLIMITED);
	}

	/**
	 * A record.
	 * @param defaults what it has unless it says otherwise
	 * @param room where the memory for many arguments is taken
	 */
	public Record(RecordDefaults defaults, Room room) {
		this.base64 = new Base64Bytes(room);
		this.arguments = new Arguments(room);
		this.defaultEncoding = defaults.encoding();
		this.defaultTtl = defaults.ttlArgument();
		this.encoding = this.defaultEncoding;
	}

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
		this.form = Form.ONCE;
		this.command = null;
		this.script = null;
		this.encoding = this.defaultEncoding;
		ttl(this.defaultTtl, 0, this.defaultTtl.length);
		this.base64.clear();
		this.arguments.clear();
		this.rejection = null;
	}

	/**
	 * Names the operation.
	 * @param operation a row of the table
	 */
	public void operation(Operation operation) {
		this.operation = operation;
		this.command = operation;
		this.form = operation.form();
	}

	/**
	 * Says how the record's strings stand for bytes, before the first of them.
	 * @param encoding the encoding
	 */
	public void encoding(Encoding encoding) {
		this.encoding = encoding;
	}

	/**
	 * Says when what the record writes expires, where it is a SET or HSET.
	 * @param source where the seconds stand, as a whole number from 1 to
	 * {@link Expiry#MAX_SECONDS}
	 * @param offset its first digit
	 * @param length its digits
	 */
	public void ttl(byte[] source, int offset, int length) {
		this.ttl.set(source, offset, length);
	}

	/** Sets the form that the record's options ask for. */
	void form(Form form) {
		this.form = form;
	}

	/**
	 * Adds an argument, the key being the first. A record that is refused takes no more,
	 * so that none stands where another belongs.
	 * @param source where its bytes stand; must not change before the next record
	 * @param offset its first byte
	 * @param length its length in bytes
	 */
	public void argument(byte[] source, int offset, int length) {
		if (this.rejection == null) {
			this.arguments.add(source, offset, length);
		}
	}

	/**
	 * Adds a string as an argument, the key being the first: the bytes that it stands for
	 * by the record's encoding. A record is refused whose string stands for none.
	 * @param source where it stands; must not change before the next record
	 * @param offset its first byte
	 * @param length its length in bytes
	 */
	public void string(byte[] source, int offset, int length) {
		if (this.encoding == Encoding.UTF8 || this.rejection != null) {
			argument(source, offset, length);
			return;
		}
		int decoded = this.base64.decode(source, offset, length);
		if (decoded >= 0) {
			argument(this.base64.room(), this.base64.used() - decoded, decoded);
		}
		else {
			reject(Rejection.MALFORMED, "'" + Excerpt.of(source, offset, length)
					+ "' is not Base64 with its padding, as encoding=base64 has it");
		}
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
	 * How the record's strings, and those it is answered, stand for bytes.
	 * @return the encoding
	 */
	public Encoding encoding() {
		return this.encoding;
	}

	/**
	 * What is sent: the operation, or what does it and more.
	 * @return the row by which the arguments are to be read
	 */
	public Operation command() {
		return (this.command != null) ? this.command : operation();
	}

	/**
	 * The script that has to be loaded before the record can run.
	 * @return the script, or {@code null} where there is none, or none is known
	 */
	public @Nullable Script script() {
		return this.script;
	}

	/**
	 * Names the script that the record runs.
	 * @param script the script
	 */
	public void script(Script script) {
		this.script = script;
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
		return this.arguments.count();
	}

	/**
	 * Where an argument's bytes stand.
	 * @param argument its position, from 0
	 * @return the array; not to be modified
	 */
	public byte[] source(int argument) {
		return this.arguments.source(argument);
	}

	/**
	 * An argument's first byte in its {@link #source(int) source}.
	 * @param argument its position, from 0
	 * @return the offset
	 */
	public int offset(int argument) {
		return this.arguments.offset(argument);
	}

	/**
	 * An argument's length.
	 * @param argument its position, from 0
	 * @return the length in bytes
	 */
	public int length(int argument) {
		return this.arguments.length(argument);
	}

	/**
	 * How many of the arguments are keys, which stand together.
	 * @return 0 or more; 0 only for a script that names none, and so may use any
	 */
	public int keyCount() {
		int first = command().firstKey();
		long counted = (first > 0 && first <= argumentCount()) ? number(first - 1) : 0;
		return command().keyCount(argumentCount(), counted);
	}

	/**
	 * The first key as a report shows it.
	 * @return the key, or {@code null} where the record has none, or did not get as far
	 * as naming it
	 */
	public @Nullable Object key() {
		int first = (this.command != null) ? this.command.firstKey() : 0;
		boolean named = (first > 0) ? keyCount() > 0 : this.arguments.count() > 0;
		return (named) ? this.encoding.show(source(first), offset(first), offset(first) + length(first)) : null;
	}

	/**
	 * What naming the record in a report takes.
	 * @return the size of its id and its first key, in bytes
	 */
	public long itemBytes() {
		int first = (this.command != null) ? this.command.firstKey() : 0;
		return ((this.id != null) ? this.id.length() : 0L) + ((first < argumentCount()) ? length(first) : 0);
	}

	/**
	 * An argument as text.
	 * @param argument its position, from 0
	 * @return the text, with U+FFFD for what is not UTF-8
	 */
	public String text(int argument) {
		return new String(source(argument), offset(argument), length(argument), StandardCharsets.UTF_8);
	}

	/** An argument as a message shows it. */
	String excerpt(int argument) {
		return Excerpt.of(source(argument), offset(argument), length(argument));
	}

	/**
	 * The hash of the first key, by which a record finds its lane.
	 * @return any int; the same for the same bytes
	 */
	public int keyHash() {
		return this.arguments.hash(command().firstKey());
	}

	/**
	 * An argument as a whole number, as strictly as Redis reads one.
	 * @param argument its position, from 0
	 * @return the number, 0 to {@link Long#MAX_VALUE}, or -1 where it is none
	 */
	public long number(int argument) {
		return this.arguments.number(argument);
	}

	/** Lets a SET expire that does not say when, or whether. */
	void expireByOption() {
		if (this.ttl.isGiven()) {
			argument(EX, 0, EX.length);
			this.ttl.insertInto(this.arguments, argumentCount());
		}
	}

	/** Lets a hash expire: by a script, as HSET has no option for it. */
	void expireByScript() {
		if (this.ttl.isGiven()) {
			byScript(Script.HSET_WITH_TTL);
			this.ttl.insertInto(this.arguments, 3);
		}
	}

	/** Sends a script for the one key instead of the operation. */
	void byScript(Script script) {
		this.arguments.insert(0, script.shaBytes(), 0, script.shaBytes().length);
		this.arguments.insert(1, ONE, 0, ONE.length);
		this.command = Operation.EVALSHA;
		this.script = script;
	}

}
