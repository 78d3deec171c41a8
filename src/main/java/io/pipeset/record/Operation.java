package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The table of operations, a row each: what Pipeset sends to Redis, and nothing else.
 * Names, arities and key positions are those of Redis's own
 * <a href="https://redis.io/docs/latest/commands/command-info/">COMMAND INFO</a>.
 */
public enum Operation {

	SET(Arity.atLeast(2), Keys.FIRST, Repeat.REPEATABLE, Reply.NIL_IS_NOOP) {
		@Override
		@Nullable String checkArguments(Record record) {
			return SetOptions.check(record);
		}
	},
	HSET(Arity.pairsAfter(1), Keys.FIRST, Repeat.REPEATABLE, Reply.ALWAYS_APPLIED),
	RPOP(Arity.between(1, 2), Keys.FIRST, Repeat.ONCE, Reply.TAKEN_VALUE) {
		@Override
		@Nullable String checkArguments(Record record) {
			return (record.argumentCount() == 1 || record.number(1) >= 0) ? null
					: "RPOP's count must be a whole number of 0 or more, not '" + record.text(1) + "'";
		}
	},
	LPUSH(Arity.atLeast(2), Keys.FIRST, Repeat.ONCE, Reply.ALWAYS_APPLIED),
	DEL(Arity.atLeast(1), Keys.ALL, Repeat.REPEATABLE, Reply.ALWAYS_APPLIED);

	private static final Operation[] ROWS = values();

	private final byte[] resp;

	private final byte[] upper;

	private final Arity arity;

	private final Keys keys;

	private final Repeat repeat;

	private final Reply reply;

	Operation(Arity arity, Keys keys, Repeat repeat, Reply reply) {
		this.upper = name().getBytes(StandardCharsets.US_ASCII);
		this.resp = ("$" + name().length() + "\r\n" + name() + "\r\n").getBytes(StandardCharsets.US_ASCII);
		this.arity = arity;
		this.keys = keys;
		this.repeat = repeat;
		this.reply = reply;
	}

	/**
	 * Finds the row of a name, whatever its case.
	 * @param bytes where the name stands
	 * @param offset its first byte
	 * @param length its length in bytes
	 * @return the row, or {@code null} where the table has none
	 */
	public static @Nullable Operation find(byte[] bytes, int offset, int length) {
		for (Operation row : ROWS) {
			if (row.upper.length == length && row.matches(bytes, offset)) {
				return row;
			}
		}
		return null;
	}

	/**
	 * Finds the row of a name, whatever its case.
	 * @param name an operation's name
	 * @return the row, or {@code null} where the table has none
	 */
	public static @Nullable Operation find(String name) {
		byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
		return find(bytes, 0, bytes.length);
	}

	/**
	 * The names of all rows, for messages.
	 * @return the names, separated by commas
	 */
	public static String names() {
		return Arrays.stream(ROWS).map(Operation::name).collect(Collectors.joining(", "));
	}

	/**
	 * The name as the first bulk string of a RESP command; not to be modified.
	 * @return the bytes, {@code $3\r\nSET\r\n}
	 */
	public byte[] resp() {
		return this.resp;
	}

	/**
	 * What running this a second time would do.
	 * @return the row's class of repetition
	 */
	public Repeat repeat() {
		return this.repeat;
	}

	/**
	 * How this row's replies are to be read.
	 * @return the meaning of its replies
	 */
	public Reply reply() {
		return this.reply;
	}

	/**
	 * How many of a record's first arguments are keys.
	 * @param argumentCount the number of arguments after the name
	 * @return at least 1
	 */
	public int keyCount(int argumentCount) {
		return (this.keys == Keys.ALL) ? argumentCount : 1;
	}

	/**
	 * Holds a record's arguments against this row.
	 * @param record the record, with its arguments
	 * @return what is wrong, for the caller to read, or {@code null}
	 */
	@Nullable String check(Record record) {
		String problem = this.arity.check(this, record.argumentCount());
		return (problem != null) ? problem : checkArguments(record);
	}

	@Nullable String checkArguments(Record record) {
		return null;
	}

	private boolean matches(byte[] bytes, int offset) {
		for (int i = 0; i < this.upper.length; i++) {
			byte letter = bytes[offset + i];
			if (letter != this.upper[i] && letter - ('a' - 'A') != this.upper[i]) {
				return false;
			}
		}
		return true;
	}

	/** Which of a record's arguments are keys. */
	private enum Keys {

		FIRST, ALL

	}

	/** What running an operation a second time does to the data. */
	public enum Repeat {

		/** The same data as after the first time. */
		REPEATABLE,

		/** Something else: a repeat takes, adds or pushes once more. */
		ONCE

	}

	/** What an operation's replies say about its outcome. */
	public enum Reply {

		/** Whatever Redis answers, short of an error, it ran. */
		ALWAYS_APPLIED(false),

		/** A nil says that a condition did not hold. */
		NIL_IS_NOOP(false),

		/**
		 * The reply carries values that are no longer in Redis; a nil says there were
		 * none.
		 */
		TAKEN_VALUE(true);

		private final boolean takesValues;

		Reply(boolean takesValues) {
			this.takesValues = takesValues;
		}

		/**
		 * Whether the reply's values exist nowhere else any more.
		 * @return {@code true} where losing the reply loses data
		 */
		public boolean takesValues() {
			return this.takesValues;
		}

		/**
		 * Whether a nil says that there was nothing to do.
		 * @return {@code true} where a nil is a noop
		 */
		public boolean nilIsNoop() {
			return this != ALWAYS_APPLIED;
		}

	}

	/** How many arguments may follow an operation's name. */
	private record Arity(int least, int most, boolean pairs) {

		static Arity atLeast(int least) {
			return new Arity(least, Integer.MAX_VALUE, false);
		}

		static Arity between(int least, int most) {
			return new Arity(least, most, false);
		}

		static Arity pairsAfter(int first) {
			return new Arity(first + 2, Integer.MAX_VALUE, true);
		}

		@Nullable String check(Operation operation, int count) {
			if (count >= this.least && count <= this.most && (!this.pairs || (count - this.least) % 2 == 0)) {
				return null;
			}
			String plural = (this.least == 1) ? " argument" : " arguments";
			String expected = (this.pairs) ? this.least + " arguments or more, in pairs after the key"
					: (this.most == Integer.MAX_VALUE) ? this.least + plural + " or more"
							: this.least + " to " + this.most + " arguments";
			return operation.name() + " takes " + expected + ", not " + count;
		}

	}

}
