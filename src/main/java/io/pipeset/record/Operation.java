package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The table of operations, a row each: what Pipeset sends to Redis, and nothing else.
 * Names, arities and key positions are those of Redis's own
 * <a href="https://redis.io/docs/latest/commands/command-info/">COMMAND INFO</a>. A row's
 * form is that of a record without options; those that may change it come last.
 */
public enum Operation {

	SET(Arity.atLeast(2), Keys.FIRST, Form.REPEATABLE, SetOptions::read),

	HSET(Arity.pairsAfterKey(), Keys.FIRST, Form.REPEATABLE, (record) -> {
		record.expireByScript();
		return null;
	}),

	HDEL(Arity.atLeast(2), Keys.FIRST, Form.REPEATABLE),

	RPOP(Arity.between(1, 2), Keys.FIRST, Form.POP, Operation::checkCount),

	LPOP(Arity.between(1, 2), Keys.FIRST, Form.POP, Operation::checkCount),

	LPUSH(Arity.atLeast(2), Keys.FIRST, Form.ONCE),

	RPUSH(Arity.atLeast(2), Keys.FIRST, Form.ONCE),

	DEL(Arity.atLeast(1), Keys.ALL, Form.REPEATABLE),

	UNLINK(Arity.atLeast(1), Keys.ALL, Form.REPEATABLE),

	EXPIRE(Arity.atLeast(2), Keys.FIRST, Form.REPEATABLE, Conditions::readExpire),

	PERSIST(Arity.of(1), Keys.FIRST, Form.REPEATABLE),

	SADD(Arity.atLeast(2), Keys.FIRST, Form.REPEATABLE),

	SREM(Arity.atLeast(2), Keys.FIRST, Form.REPEATABLE),

	ZADD(Arity.atLeast(3), Keys.FIRST, Form.REPEATABLE, Conditions::readZadd),

	ZREM(Arity.atLeast(2), Keys.FIRST, Form.REPEATABLE),

	XADD(Arity.atLeast(4), Keys.FIRST, Form.ONCE, StreamOptions::read),

	INCRBY(Arity.of(2), Keys.FIRST, Form.ONCE, (record) -> checkIncrement(record, 1)),

	HINCRBY(Arity.of(3), Keys.FIRST, Form.ONCE, (record) -> checkIncrement(record, 2)),

	PFADD(Arity.atLeast(1), Keys.FIRST, Form.REPEATABLE),

	GEOADD(Arity.atLeast(4), Keys.FIRST, Form.REPEATABLE, Conditions::readGeoadd),

	SETBIT(Arity.of(3), Keys.FIRST, Form.REPEATABLE, Operation::checkBit),

	EVALSHA(Arity.atLeast(2), Keys.COUNTED, Form.ONCE, Operation::checkScript);

	private static final int SHA_LENGTH = 40;

	private static final Operation[][] BY_LENGTH = byLength();

	private static final String NAMES = Arrays.stream(values()).map(Operation::name).collect(Collectors.joining(", "));

	private final byte[] resp;

	private final byte[] upper;

	private final Arity arity;

	private final Keys keys;

	private final Form form;

	private final @Nullable Function<Record, @Nullable String> options;

	Operation(Arity arity, Keys keys, Form form) {
		this(arity, keys, form, null);
	}

	Operation(Arity arity, Keys keys, Form form, @Nullable Function<Record, @Nullable String> options) {
		this.upper = name().getBytes(StandardCharsets.US_ASCII);
		this.resp = ("$" + name().length() + "\r\n" + name() + "\r\n").getBytes(StandardCharsets.US_ASCII);
		this.arity = arity;
		this.keys = keys;
		this.form = form;
		this.options = options;
	}

	/**
	 * Finds the row of a name, whatever its case.
	 * @param bytes where the name stands
	 * @param offset its first byte
	 * @param length its length in bytes
	 * @return the row, or {@code null} where the table has none
	 */
	public static @Nullable Operation find(byte[] bytes, int offset, int length) {
		if (length < BY_LENGTH.length) {
			for (Operation row : BY_LENGTH[length]) {
				if (row.matches(bytes, offset)) {
					return row;
				}
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
		return NAMES;
	}

	/**
	 * The name as the first bulk string of a RESP command; not to be modified.
	 * @return the bytes, {@code $3\r\nSET\r\n}
	 */
	public byte[] resp() {
		return this.resp;
	}

	/**
	 * What there is to know of a record without options once it is sent.
	 * @return the row's own form, which {@link Record#form() a record's} may differ from
	 */
	public Form form() {
		return this.form;
	}

	/**
	 * Where a record's keys begin.
	 * @return the position of the first among its arguments, from 0; the argument before
	 * it, if any, is their number
	 */
	public int firstKey() {
		return this.keys.first();
	}

	/**
	 * How many of a command's arguments are keys, which stand together.
	 * @param arguments the number of arguments after the name
	 * @param counted the argument before the first key as a number, where there is one
	 * @return 0 or more
	 */
	public int keyCount(int arguments, long counted) {
		return this.keys.count(arguments, counted);
	}

	Keys keys() {
		return this.keys;
	}

	Arity arity() {
		return this.arity;
	}

	/**
	 * Holds a record's arguments against this row, and gives it the form they ask for.
	 * @param record the record, with its arguments
	 * @return what is wrong, for the caller to read, or {@code null}
	 */
	@Nullable String check(Record record) {
		String problem = this.arity.check(this, record.argumentCount());
		return (problem != null || this.options == null) ? problem : this.options.apply(record);
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

	private static Operation[][] byLength() {
		int longest = Arrays.stream(values()).mapToInt((row) -> row.upper.length).max().orElse(0);
		Operation[][] rows = new Operation[longest + 1][];
		for (int i = 0; i <= longest; i++) {
			int length = i;
			rows[i] = Arrays.stream(values()).filter((row) -> row.upper.length == length).toArray(Operation[]::new);
		}
		return rows;
	}

	private static @Nullable String checkCount(Record record) {
		return (record.argumentCount() == 1 || record.number(1) >= 0) ? null
				: record.operation() + "'s count must be a whole number of 0 or more, not '" + record.excerpt(1) + "'";
	}

	private static @Nullable String checkIncrement(Record record, int increment) {
		return (Words.isInteger(record, increment)) ? null : record.operation()
				+ "'s increment must be a whole number of at most 64 bits, not '" + record.excerpt(increment) + "'";
	}

	private static @Nullable String checkBit(Record record) {
		if (record.number(1) < 0) {
			return "SETBIT's offset must be a whole number of 0 or more, not '" + record.excerpt(1) + "'";
		}
		return (Words.is(record, 2, "0") || Words.is(record, 2, "1")) ? null
				: "SETBIT's bit must be 0 or 1, not '" + record.excerpt(2) + "'";
	}

	private static @Nullable String checkScript(Record record) {
		if (record.length(0) != SHA_LENGTH || !Words.isHexadecimal(record, 0)) {
			return "EVALSHA takes a script's SHA1 first, 40 hexadecimal digits as POST /v1/scripts answers them,"
					+ " not '" + record.excerpt(0) + "'";
		}
		long keys = record.number(1);
		return (keys >= 0 && keys <= record.argumentCount() - 2) ? null : "EVALSHA's number of keys must be 0 to "
				+ (record.argumentCount() - 2) + ", the arguments that follow it, not '" + record.excerpt(1) + "'";
	}

}
