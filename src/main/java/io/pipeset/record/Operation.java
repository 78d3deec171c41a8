package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * An operation of records. The constants are the table of those whose options, replies
 * and repeats are known here, a row each; others are described by the server. Names,
 * arities and key positions are those of Redis's own
 * <a href="https://redis.io/docs/latest/commands/command-info/">COMMAND INFO</a>. A row's
 * effect is the effect of a record without options. If an operation has options, the row
 * ends with a function that reads them and may change the effect.
 */
public final class Operation {

	private static final List<Operation> TABLE = new ArrayList<>();

	public static final Operation SET = row("SET", Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE,
			CoalescedCommand.MSET, SetOptions::read);

	public static final Operation HSET = row("HSET", Arity.pairsAfterKey(), Keys.FIRST, Effect.REPEATABLE,
			CoalescedCommand.MEMBERS, (record) -> {
				record.ttl().expireByScript(record);
				return null;
			});

	public static final Operation HDEL = row("HDEL", Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE,
			CoalescedCommand.MEMBERS);

	public static final Operation RPOP = row("RPOP", Arity.between(1, 2), Keys.FIRST, Effect.POP,
			CoalescedCommand.COUNT, ArgumentChecks::checkCount);

	public static final Operation LPOP = row("LPOP", Arity.between(1, 2), Keys.FIRST, Effect.POP,
			CoalescedCommand.COUNT, ArgumentChecks::checkCount);

	public static final Operation LPUSH = row("LPUSH", Arity.atLeast(2), Keys.FIRST, Effect.ONCE,
			CoalescedCommand.ELEMENTS);

	public static final Operation RPUSH = row("RPUSH", Arity.atLeast(2), Keys.FIRST, Effect.ONCE,
			CoalescedCommand.ELEMENTS);

	public static final Operation DEL = row("DEL", Arity.atLeast(1), Keys.ALL, Effect.REPEATABLE,
			CoalescedCommand.KEYS);

	public static final Operation UNLINK = row("UNLINK", Arity.atLeast(1), Keys.ALL, Effect.REPEATABLE,
			CoalescedCommand.KEYS);

	public static final Operation EXPIRE = row("EXPIRE", Arity.atLeast(2), Keys.FIRST, Effect.COUNTED,
			Conditions::readExpire);

	public static final Operation PERSIST = row("PERSIST", Arity.of(1), Keys.FIRST, Effect.REPEATABLE);

	public static final Operation SADD = row("SADD", Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE,
			CoalescedCommand.MEMBERS);

	public static final Operation SREM = row("SREM", Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE,
			CoalescedCommand.MEMBERS);

	public static final Operation ZADD = row("ZADD", Arity.atLeast(3), Keys.FIRST, Effect.REPEATABLE,
			CoalescedCommand.SCORED_MEMBERS, Conditions::readZadd);

	public static final Operation ZREM = row("ZREM", Arity.atLeast(2), Keys.FIRST, Effect.REPEATABLE,
			CoalescedCommand.MEMBERS);

	public static final Operation XADD = row("XADD", Arity.atLeast(4), Keys.FIRST, Effect.ONCE, StreamOptions::read);

	public static final Operation INCRBY = row("INCRBY", Arity.of(2), Keys.FIRST, Effect.ONCE,
			(record) -> ArgumentChecks.checkIncrement(record, 1));

	public static final Operation HINCRBY = row("HINCRBY", Arity.of(3), Keys.FIRST, Effect.ONCE,
			(record) -> ArgumentChecks.checkIncrement(record, 2));

	public static final Operation PFADD = row("PFADD", Arity.atLeast(1), Keys.FIRST, Effect.REPEATABLE,
			CoalescedCommand.MEMBERS);

	public static final Operation GEOADD = row("GEOADD", Arity.atLeast(4), Keys.FIRST, Effect.REPEATABLE,
			Conditions::readGeoadd);

	public static final Operation SETBIT = row("SETBIT", Arity.of(3), Keys.FIRST, Effect.REPEATABLE,
			ArgumentChecks::checkBit);

	public static final Operation SETEX = row("SETEX", Arity.of(3), Keys.FIRST, Effect.REPEATABLE,
			(record) -> SetOptions.checkTime(record, 1, "EX"));

	public static final Operation PSETEX = row("PSETEX", Arity.of(3), Keys.FIRST, Effect.REPEATABLE,
			(record) -> SetOptions.checkTime(record, 1, "PX"));

	public static final Operation MSETEX = row("MSETEX", Arity.atLeast(3), Keys.COUNTED_PAIRS, Effect.REPEATABLE,
			SetOptions::readMsetex);

	public static final Operation APPEND = row("APPEND", Arity.of(2), Keys.FIRST, Effect.ONCE);

	public static final Operation SETRANGE = row("SETRANGE", Arity.of(3), Keys.FIRST, Effect.REPEATABLE,
			ArgumentChecks::checkOffset);

	public static final Operation GETDEL = row("GETDEL", Arity.of(1), Keys.FIRST, Effect.POP);

	public static final Operation DELIFEQ = row("DELIFEQ", Arity.of(2), Keys.FIRST, Effect.ONCE);

	public static final Operation INCRBYFLOAT = row("INCRBYFLOAT", Arity.of(2), Keys.FIRST, Effect.ONCE,
			(record) -> Scores.warn(record, 1));

	public static final Operation HSETNX = row("HSETNX", Arity.of(3), Keys.FIRST, Effect.COUNTED_ONCE);

	public static final Operation HSETEX = row("HSETEX", Arity.atLeast(5), Keys.FIRST, Effect.REPEATABLE,
			FieldOptions::readSet);

	public static final Operation HEXPIRE = row("HEXPIRE", Arity.atLeast(5), Keys.FIRST, Effect.FIELDS,
			FieldOptions::readExpire);

	public static final Operation HINCRBYFLOAT = row("HINCRBYFLOAT", Arity.of(3), Keys.FIRST, Effect.ONCE,
			(record) -> Scores.warn(record, 2));

	public static final Operation PEXPIRE = row("PEXPIRE", Arity.atLeast(2), Keys.FIRST, Effect.COUNTED,
			Conditions::readExpire);

	public static final Operation EXPIREAT = row("EXPIREAT", Arity.atLeast(2), Keys.FIRST, Effect.COUNTED,
			Conditions::readExpire);

	public static final Operation PEXPIREAT = row("PEXPIREAT", Arity.atLeast(2), Keys.FIRST, Effect.COUNTED,
			Conditions::readExpire);

	public static final Operation COPY = row("COPY", Arity.atLeast(2), Keys.FIRST_TWO, Effect.COUNTED_ONCE,
			ArgumentChecks::checkCopy);

	public static final Operation RENAME = row("RENAME", Arity.of(2), Keys.FIRST_TWO, Effect.ONCE);

	public static final Operation LMOVE = row("LMOVE", Arity.of(4), Keys.FIRST_TWO, Effect.CONDITIONAL,
			ArgumentChecks::checkListEnds);

	public static final Operation SMOVE = row("SMOVE", Arity.of(3), Keys.FIRST_TWO, Effect.COUNTED_ONCE);

	public static final Operation ZINCRBY = row("ZINCRBY", Arity.of(3), Keys.FIRST, Effect.ONCE,
			(record) -> Scores.warn(record, 1));

	public static final Operation XTRIM = row("XTRIM", Arity.atLeast(3), Keys.FIRST, Effect.REPEATABLE,
			StreamOptions::readTrim);

	public static final Operation JSON_SET = row("JSON.SET", Arity.atLeast(3), Keys.FIRST, Effect.REPEATABLE,
			JsonPaths::readSet);

	public static final Operation JSON_MSET = row("JSON.MSET", Arity.atLeast(3), Keys.TRIPLES, Effect.REPEATABLE,
			JsonPaths::readMset);

	public static final Operation VADD = row("VADD", Arity.atLeast(4), Keys.FIRST, Effect.REPEATABLE,
			VectorOptions::read);

	public static final Operation TS_MADD = row("TS.MADD", Arity.atLeast(3), Keys.TRIPLES, Effect.PARTS,
			ArgumentChecks::checkSamples);

	public static final Operation MSET = row("MSET", Arity.pairsOfKeys(), Keys.PAIRS, Effect.REPEATABLE);

	public static final Operation SETNX = row("SETNX", Arity.of(2), Keys.FIRST, Effect.COUNTED_ONCE);

	public static final Operation INCR = row("INCR", Arity.of(1), Keys.FIRST, Effect.ONCE);

	public static final Operation DECR = row("DECR", Arity.of(1), Keys.FIRST, Effect.ONCE);

	public static final Operation DECRBY = row("DECRBY", Arity.of(2), Keys.FIRST, Effect.ONCE,
			ArgumentChecks::checkDecrement);

	public static final Operation RESTORE = row("RESTORE", Arity.atLeast(3), Keys.FIRST, Effect.ONCE,
			RestoreOptions::read);

	public static final Operation RENAMENX = row("RENAMENX", Arity.of(2), Keys.FIRST_TWO, Effect.COUNTED_ONCE);

	public static final Operation MSETNX = row("MSETNX", Arity.pairsOfKeys(), Keys.PAIRS, Effect.COUNTED_ONCE);

	public static final Operation LPUSHX = row("LPUSHX", Arity.atLeast(2), Keys.FIRST, Effect.COUNTED_ONCE);

	public static final Operation RPUSHX = row("RPUSHX", Arity.atLeast(2), Keys.FIRST, Effect.COUNTED_ONCE);

	public static final Operation LINSERT = row("LINSERT", Arity.of(4), Keys.FIRST, Effect.COUNTED_ONCE,
			ArgumentChecks::checkInsert);

	public static final Operation BITFIELD = row("BITFIELD", Arity.atLeast(1), Keys.FIRST, Effect.BITS);

	public static final Operation ZUNIONSTORE = row("ZUNIONSTORE", Arity.atLeast(3), Keys.FIRST_AND_COUNTED,
			Effect.ONCE, ArgumentChecks::checkStore);

	public static final Operation ZINTERSTORE = row("ZINTERSTORE", Arity.atLeast(3), Keys.FIRST_AND_COUNTED,
			Effect.ONCE, ArgumentChecks::checkStore);

	public static final Operation ZDIFFSTORE = row("ZDIFFSTORE", Arity.atLeast(3), Keys.FIRST_AND_COUNTED, Effect.ONCE,
			ArgumentChecks::checkStore);

	public static final Operation HPEXPIRE = row("HPEXPIRE", Arity.atLeast(5), Keys.FIRST, Effect.FIELDS,
			FieldOptions::readExpire);

	public static final Operation HEXPIREAT = row("HEXPIREAT", Arity.atLeast(5), Keys.FIRST, Effect.FIELDS,
			FieldOptions::readExpire);

	public static final Operation HPEXPIREAT = row("HPEXPIREAT", Arity.atLeast(5), Keys.FIRST, Effect.FIELDS,
			FieldOptions::readExpire);

	public static final Operation EVALSHA = row("EVALSHA", Arity.atLeast(2), Keys.COUNTED, Effect.ONCE,
			ArgumentChecks::checkScript);

	/** The old name of HSET, which is sent as HSET. */
	private static final byte[] HMSET = "HMSET".getBytes(StandardCharsets.US_ASCII);

	private static final Operation[][] BY_LENGTH = groupByLength();

	private static final String NAMES = TABLE.stream().map(Operation::toString).collect(Collectors.joining(", "));

	private final int number;

	private final String command;

	/** The first word of the command, by which it is sent. */
	private final String word;

	private final byte[] resp;

	private final byte[] upper;

	private final Arity arity;

	private final Keys keys;

	private final Effect effect;

	private final CoalescedCommand coalesced;

	private final @Nullable Function<Record, @Nullable String> options;

	private final @Nullable Map<String, Operation> subcommands;

	private final boolean sureKeys;

	/**
	 * A row of the table, or an operation that a server describes.
	 * @param command the name as Redis knows it; of a subcommand both words
	 * @param subcommands the operations of a container by the upper case of their second
	 * word; {@code null} for an operation of its own
	 */
	private Operation(int number, String command, Arity arity, Keys keys, Effect effect, CoalescedCommand coalesced,
			@Nullable Function<Record, @Nullable String> options, @Nullable Map<String, Operation> subcommands) {
		this.number = number;
		this.command = command;
		int blank = command.indexOf(' ');
		this.word = (blank < 0) ? command : command.substring(0, blank);
		this.upper = this.word.getBytes(StandardCharsets.UTF_8);
		this.resp = ("$" + this.upper.length + "\r\n" + this.word + "\r\n").getBytes(StandardCharsets.UTF_8);
		this.arity = arity;
		this.keys = keys;
		this.effect = effect;
		this.coalesced = coalesced;
		this.options = options;
		this.subcommands = subcommands;
		this.sureKeys = number < 0 || ModuleCommands.hasSureKeys(command);
	}

	private static Operation row(String command, Arity arity, Keys keys, Effect effect) {
		return row(command, arity, keys, effect, CoalescedCommand.NONE, null);
	}

	private static Operation row(String command, Arity arity, Keys keys, Effect effect, CoalescedCommand common) {
		return row(command, arity, keys, effect, common, null);
	}

	private static Operation row(String command, Arity arity, Keys keys, Effect effect,
			Function<Record, @Nullable String> options) {
		return row(command, arity, keys, effect, CoalescedCommand.NONE, options);
	}

	private static Operation row(String command, Arity arity, Keys keys, Effect effect, CoalescedCommand common,
			@Nullable Function<Record, @Nullable String> options) {
		Operation row = new Operation(TABLE.size(), command, arity, keys, effect, common, options, null);
		TABLE.add(row);
		return row;
	}

	/** The rows of the table, in its order. */
	public static List<Operation> values() {
		return Collections.unmodifiableList(TABLE);
	}

	/**
	 * An operation that a server describes.
	 * @param name the name, of a subcommand both words with a blank between them
	 * @param description its arity and keys, as COMMAND INFO has them
	 * @return the operation; {@code null} if this process knows too many already
	 */
	public static @Nullable Operation described(String name, Description description) {
		return DescribedOperations.get(name.toUpperCase(Locale.ROOT), description);
	}

	static Operation described(int number, String name, Description description) {
		return new Operation(number, name, Arity.described(description.arity()), Keys.described(description),
				Effect.DESCRIBED, CoalescedCommand.NONE, null, null);
	}

	/**
	 * An operation whose second word says which one it is, such as XGROUP.
	 * @param subcommands its operations by the upper case of that word
	 */
	public static Operation container(String name, Map<String, Operation> subcommands) {
		return new Operation(-1, name.toUpperCase(Locale.ROOT), Arity.atLeast(1), Keys.FIRST, Effect.ONCE,
				CoalescedCommand.NONE, null, Map.copyOf(subcommands));
	}

	/**
	 * An operation of a number.
	 * @see #number()
	 */
	public static Operation of(int number) {
		return (number < TABLE.size()) ? TABLE.get(number) : DescribedOperations.get(number);
	}

	/**
	 * The number of the operation in this process: those of the table come first.
	 * @return 0 to {@value DescribedOperations#MOST}
	 */
	public int number() {
		return this.number;
	}

	/** Whether the table has the operation, and no server has to describe it. */
	public boolean isTabled() {
		return this.number >= 0 && this.number < TABLE.size();
	}

	/** Whether the keys of its records are all that they concern. */
	public boolean hasSureKeys() {
		return this.sureKeys;
	}

	/** Whether the second word of a command says which operation it is. */
	public boolean isContainer() {
		return this.subcommands != null;
	}

	/** An operation of a container, by its second word; {@code null} if it has none. */
	public @Nullable Operation subcommand(String word) {
		return (this.subcommands != null) ? this.subcommands.get(word.toUpperCase(Locale.ROOT)) : null;
	}

	/** What a server has said of it; {@code null} for a row of the table. */
	public @Nullable Description description() {
		return (this.number >= TABLE.size()) ? DescribedOperations.description(this) : null;
	}

	/**
	 * The operation that a record of this one runs.
	 * @return this one, or of a container that of the first argument; {@code null} if the
	 * container has none of that name
	 */
	@Nullable Operation resolve(Record record) {
		return (this.subcommands == null) ? this : (record.argumentCount() == 0) ? null : subcommand(record.text(0));
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

	/** Whether a record leaves none of its keys. */
	public boolean deletesKeys() {
		return this == DEL || this == UNLINK || this == GETDEL || this == DELIFEQ;
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
	 * @return the position among the arguments, from 0
	 */
	public int firstKey() {
		return this.keys.first();
	}

	/**
	 * The number of keys among a command's arguments.
	 * @param arguments the number of arguments after the name
	 * @param counted the value of the argument at {@link #keyCounter()}, if there is one
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
	 * The position of the argument that is the number of keys.
	 * @return the position, from 0; -1 if there is none
	 */
	public int keyCounter() {
		return this.keys.counter();
	}

	/**
	 * The position of a key among the arguments.
	 * @param key its number, from 0
	 */
	public int keyPosition(int key) {
		return this.keys.position(key);
	}

	/**
	 * Whether an argument is a key.
	 * @param position its position, from 0
	 * @param keys how many keys there are
	 */
	public boolean isKey(int position, int keys) {
		return this.keys.isKey(position, keys);
	}

	/**
	 * Whether a record without options does nothing if the key or field does not exist.
	 * Such a record must not run again after a later record that creates the key.
	 * @return {@code true} for operations that only set an expiry
	 */
	public boolean expiresOnly() {
		return this == EXPIRE || this == PEXPIRE || this == EXPIREAT || this == PEXPIREAT || this == HEXPIRE
				|| this == HPEXPIRE || this == HEXPIREAT || this == HPEXPIREAT;
	}

	/**
	 * The name as Redis knows it.
	 * @return the name in upper case, such as {@code JSON.SET}
	 */
	@Override
	public String toString() {
		return this.command;
	}

	/**
	 * The first word of the command.
	 * @return the name by which it is sent, in upper case
	 */
	public String word() {
		return this.word;
	}

	/** The name as an identifier, such as {@code JSON_SET}. */
	public String name() {
		return this.command.replace('.', '_').replace(' ', '_');
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
		int longest = TABLE.stream().mapToInt((row) -> row.upper.length).max().orElse(0);
		Operation[][] rows = new Operation[longest + 1][];
		for (int i = 0; i <= longest; i++) {
			int length = i;
			rows[i] = TABLE.stream().filter((row) -> row.upper.length == length).toArray(Operation[]::new);
		}
		return rows;
	}

}
