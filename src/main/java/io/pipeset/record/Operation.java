package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The table of operations that Pipeset supports, one row each. It sends no other command
 * of a caller. Names, arities and key positions are those of Redis's own
 * <a href="https://redis.io/docs/latest/commands/command-info/">COMMAND INFO</a>. A row's
 * effect is the effect of a record without options. If an operation has options, the row
 * ends with a function that reads them and may change the effect.
 */
public enum Operation {

	SET(Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE, CoalescedCommand.MSET, SetOptions::read),

	HSET(Arity.pairsAfterKey(), Keys.FIRST, Effect.REPEATABLE, CoalescedCommand.MEMBERS, (record) -> {
		record.ttl().expireByScript(record);
		return null;
	}),

	HDEL(Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE, CoalescedCommand.MEMBERS),

	RPOP(Arity.between(1, 2), Keys.FIRST, Effect.POP, CoalescedCommand.COUNT, Operation::checkCount),

	LPOP(Arity.between(1, 2), Keys.FIRST, Effect.POP, CoalescedCommand.COUNT, Operation::checkCount),

	LPUSH(Arity.atLeast(2), Keys.FIRST, Effect.ONCE, CoalescedCommand.ELEMENTS),

	RPUSH(Arity.atLeast(2), Keys.FIRST, Effect.ONCE, CoalescedCommand.ELEMENTS),

	DEL(Arity.atLeast(1), Keys.ALL, Effect.REPEATABLE, CoalescedCommand.KEYS),

	UNLINK(Arity.atLeast(1), Keys.ALL, Effect.REPEATABLE, CoalescedCommand.KEYS),

	EXPIRE(Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE, Conditions::readExpire),

	PERSIST(Arity.of(1), Keys.FIRST, Effect.REPEATABLE),

	SADD(Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE, CoalescedCommand.MEMBERS),

	SREM(Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE, CoalescedCommand.MEMBERS),

	ZADD(Arity.atLeast(3), Keys.FIRST, Effect.REPEATABLE, CoalescedCommand.SCORED_MEMBERS, Conditions::readZadd),

	ZREM(Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE, CoalescedCommand.MEMBERS),

	XADD(Arity.atLeast(4), Keys.FIRST, Effect.ONCE, StreamOptions::read),

	INCRBY(Arity.of(2), Keys.FIRST, Effect.ONCE, (record) -> checkIncrement(record, 1)),

	HINCRBY(Arity.of(3), Keys.FIRST, Effect.ONCE, (record) -> checkIncrement(record, 2)),

	PFADD(Arity.atLeast(1), Keys.FIRST, Effect.REPEATABLE, CoalescedCommand.MEMBERS),

	GEOADD(Arity.atLeast(4), Keys.FIRST, Effect.REPEATABLE, Conditions::readGeoadd),

	SETBIT(Arity.of(3), Keys.FIRST, Effect.REPEATABLE, Operation::checkBit),

	SETEX(Arity.of(3), Keys.FIRST, Effect.REPEATABLE, (record) -> SetOptions.checkTime(record, 1, "EX")),

	PSETEX(Arity.of(3), Keys.FIRST, Effect.REPEATABLE, (record) -> SetOptions.checkTime(record, 1, "PX")),

	MSETEX(Arity.atLeast(3), Keys.COUNTED_PAIRS, Effect.REPEATABLE, SetOptions::readMsetex),

	APPEND(Arity.of(2), Keys.FIRST, Effect.ONCE),

	SETRANGE(Arity.of(3), Keys.FIRST, Effect.REPEATABLE, Operation::checkOffset),

	GETDEL(Arity.of(1), Keys.FIRST, Effect.POP),

	DELIFEQ(Arity.of(2), Keys.FIRST, Effect.ONCE),

	INCRBYFLOAT(Arity.of(2), Keys.FIRST, Effect.ONCE),

	HSETNX(Arity.of(3), Keys.FIRST, Effect.ONCE),

	HSETEX(Arity.atLeast(5), Keys.FIRST, Effect.REPEATABLE, FieldOptions::readSet),

	HEXPIRE(Arity.atLeast(5), Keys.FIRST, Effect.REPEATABLE, FieldOptions::readExpire),

	HINCRBYFLOAT(Arity.of(3), Keys.FIRST, Effect.ONCE),

	PEXPIRE(Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE, Conditions::readExpire),

	EXPIREAT(Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE, Conditions::readExpire),

	PEXPIREAT(Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE, Conditions::readExpire),

	COPY(Arity.atLeast(2), Keys.FIRST_TWO, Effect.ONCE, Operation::checkCopy),

	RENAME(Arity.of(2), Keys.FIRST_TWO, Effect.ONCE),

	LMOVE(Arity.of(4), Keys.FIRST_TWO, Effect.CONDITIONAL, Operation::checkListEnds),

	SMOVE(Arity.of(3), Keys.FIRST_TWO, Effect.ONCE),

	ZINCRBY(Arity.of(3), Keys.FIRST, Effect.ONCE),

	XTRIM(Arity.atLeast(3), Keys.FIRST, Effect.REPEATABLE, StreamOptions::readTrim),

	JSON_SET(Arity.atLeast(3), Keys.FIRST, Effect.REPEATABLE, JsonPaths::readSet),

	JSON_MSET(Arity.atLeast(3), Keys.TRIPLES, Effect.REPEATABLE, JsonPaths::readMset),

	VADD(Arity.atLeast(4), Keys.FIRST, Effect.REPEATABLE, VectorOptions::read),

	TS_MADD(Arity.atLeast(3), Keys.TRIPLES, Effect.PARTS, Operation::checkSamples),

	MSET(Arity.pairsOfKeys(), Keys.PAIRS, Effect.REPEATABLE),

	SETNX(Arity.of(2), Keys.FIRST, Effect.COUNTED_ONCE),

	INCR(Arity.of(1), Keys.FIRST, Effect.ONCE),

	DECR(Arity.of(1), Keys.FIRST, Effect.ONCE),

	DECRBY(Arity.of(2), Keys.FIRST, Effect.ONCE, Operation::checkDecrement),

	RESTORE(Arity.atLeast(3), Keys.FIRST, Effect.ONCE, RestoreOptions::read),

	EVALSHA(Arity.atLeast(2), Keys.COUNTED, Effect.ONCE, Operation::checkScript);

	/** The old name of HSET, which is sent as HSET. */
	private static final byte[] HMSET = "HMSET".getBytes(StandardCharsets.US_ASCII);

	private static final int SHA_LENGTH = 40;

	private static final Operation[][] BY_LENGTH = groupByLength();

	private static final String NAMES = Arrays.stream(values())
		.map(Operation::toString)
		.collect(Collectors.joining(", "));

	private final String command;

	private final byte[] resp;

	private final byte[] upper;

	private final Arity arity;

	private final Keys keys;

	private final Effect effect;

	private final CoalescedCommand coalesced;

	private final @Nullable Function<Record, @Nullable String> options;

	Operation(Arity arity, Keys keys, Effect effect) {
		this(arity, keys, effect, CoalescedCommand.NONE);
	}

	Operation(Arity arity, Keys keys, Effect effect, CoalescedCommand coalesced) {
		this(arity, keys, effect, coalesced, null);
	}

	Operation(Arity arity, Keys keys, Effect effect, Function<Record, @Nullable String> options) {
		this(arity, keys, effect, CoalescedCommand.NONE, options);
	}

	Operation(Arity arity, Keys keys, Effect effect, CoalescedCommand coalesced,
			@Nullable Function<Record, @Nullable String> options) {
		// The names of module commands contain a dot, which Java does not allow in a
		// constant.
		this.command = name().replace('_', '.');
		this.upper = this.command.getBytes(StandardCharsets.US_ASCII);
		this.resp = ("$" + this.upper.length + "\r\n" + this.command + "\r\n").getBytes(StandardCharsets.US_ASCII);
		this.arity = arity;
		this.keys = keys;
		this.effect = effect;
		this.coalesced = coalesced;
		this.options = options;
	}

	/**
	 * Finds the row of a name, ignoring case.
	 * @return the row, or {@code null} if the table has none
	 */
	public static @Nullable Operation find(byte[] bytes, int offset, int length) {
		if (length < BY_LENGTH.length) {
			for (Operation row : BY_LENGTH[length]) {
				if (matches(row.upper, bytes, offset)) {
					return row;
				}
			}
		}
		return (length == HMSET.length && matches(HMSET, bytes, offset)) ? HSET : null;
	}

	/**
	 * Finds the row of a name, ignoring case.
	 * @return the row, or {@code null} if the table has none
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
	 * The effect of a record without options.
	 * @return the row's own effect; {@link Record#effect() a record's} may be another
	 */
	public Effect effect() {
		return this.effect;
	}

	/**
	 * The command that adjacent records without options can be coalesced into.
	 * @return {@link CoalescedCommand#NONE} if each record is a command of its own
	 */
	public CoalescedCommand common() {
		return this.coalesced;
	}

	/**
	 * The position of the first key.
	 * @return the position among the arguments, from 0; if it is not 0, the argument
	 * before it is the number of keys
	 */
	public int firstKey() {
		return this.keys.first();
	}

	/**
	 * The number of keys among a command's arguments. The distance between keys is
	 * {@link #keyStep()}.
	 * @param arguments the number of arguments after the name
	 * @param counted the value of the argument before the first key, if there is one
	 */
	public int keyCount(int arguments, long counted) {
		return this.keys.count(arguments, counted);
	}

	/**
	 * Checks the number of arguments after the operation's name.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	public @Nullable String checkCount(int arguments) {
		return this.arity.check(this, arguments);
	}

	/**
	 * The distance from each key to the next.
	 * @return 1 if the keys are adjacent, more if there are values between them
	 */
	public int keyStep() {
		return this.keys.step();
	}

	/**
	 * Whether a record without options does nothing if the key or field does not exist.
	 * Such a record must not run again after a later record that creates the key.
	 * @return {@code true} for operations that only set an expiry
	 */
	public boolean expiresOnly() {
		return switch (this) {
			case EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT, HEXPIRE -> true;
			default -> false;
		};
	}

	/**
	 * The name as Redis knows it.
	 * @return the name in upper case, such as {@code JSON.SET}
	 */
	@Override
	public String toString() {
		return this.command;
	}

	Keys keys() {
		return this.keys;
	}

	Arity arity() {
		return this.arity;
	}

	/**
	 * Checks a record's arguments, and sets the effect that its options require.
	 * @return the problem, for the caller to read, or {@code null}
	 */
	@Nullable String check(Record record) {
		String problem = checkCount(record.argumentCount());
		return (problem != null || this.options == null) ? problem : this.options.apply(record);
	}

	private static boolean matches(byte[] upper, byte[] bytes, int offset) {
		for (int i = 0; i < upper.length; i++) {
			byte letter = bytes[offset + i];
			if (letter != upper[i] && letter - ('a' - 'A') != upper[i]) {
				return false;
			}
		}
		return true;
	}

	private static Operation[][] groupByLength() {
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
		return (record.arguments().isInteger(increment)) ? null : record.operation()
				+ "'s increment must be a whole number of at most 64 bits, not '" + record.excerpt(increment) + "'";
	}

	private static @Nullable String checkDecrement(Record record) {
		return (record.arguments().isWithin(1, Long.MAX_VALUE)) ? null
				: "DECRBY's decrement must be a whole number from -" + Long.MAX_VALUE + " to " + Long.MAX_VALUE
						+ ", not '" + record.excerpt(1) + "'";
	}

	private static @Nullable String checkBit(Record record) {
		if (record.number(1) < 0) {
			return "SETBIT's offset must be a whole number of 0 or more, not '" + record.excerpt(1) + "'";
		}
		return (record.arguments().isWord(2, "0") || record.arguments().isWord(2, "1")) ? null
				: "SETBIT's bit must be 0 or 1, not '" + record.excerpt(2) + "'";
	}

	private static @Nullable String checkOffset(Record record) {
		return (record.number(1) >= 0) ? null
				: "SETRANGE's offset must be a whole number of 0 or more, not '" + record.excerpt(1) + "'";
	}

	/**
	 * COPY's option DB is refused, because the report could not show the other database.
	 */
	private static @Nullable String checkCopy(Record record) {
		for (int i = 2; i < record.argumentCount(); i++) {
			if (!record.arguments().isWord(i, "REPLACE")) {
				return "COPY's option '" + record.excerpt(i) + "' is not supported; allowed is REPLACE";
			}
		}
		return null;
	}

	private static @Nullable String checkListEnds(Record record) {
		for (int end = 2; end < 4; end++) {
			if (!record.arguments().isWord(end, "LEFT") && !record.arguments().isWord(end, "RIGHT")) {
				return "LMOVE's ends of the two lists must be LEFT or RIGHT, not '" + record.excerpt(end) + "'";
			}
		}
		return null;
	}

	private static @Nullable String checkSamples(Record record) {
		return (record.argumentCount() % 3 == 0) ? null
				: "TS.MADD takes triples of a key, a timestamp and a value, not " + record.argumentCount()
						+ " arguments";
	}

	private static @Nullable String checkScript(Record record) {
		if (record.length(0) != SHA_LENGTH || !record.arguments().isHexadecimal(0)) {
			return "EVALSHA takes a script's SHA1 first, 40 hexadecimal digits as POST /v1/scripts answers them,"
					+ " not '" + record.excerpt(0) + "'";
		}
		long keys = record.number(1);
		return (keys >= 0 && keys <= record.argumentCount() - 2) ? null : "EVALSHA's number of keys must be 0 to "
				+ (record.argumentCount() - 2) + ", the arguments that follow it, not '" + record.excerpt(1) + "'";
	}

}
