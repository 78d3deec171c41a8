package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Locale;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.Operation;
import io.pipeset.report.JsonComparison;
import org.jspecify.annotations.Nullable;

/**
 * How a record is verified: the command that reads what the record writes or removes, and
 * the comparison of the reply with the record. The parts of a record are its keys, fields
 * or members, each of which may differ.
 */
final class RecordCheck {

	private static final byte[] PING = "*1\r\n$4\r\nPING\r\n".getBytes(StandardCharsets.US_ASCII);

	private Kind kind = Kind.NONE;

	private byte[] resp = new byte[0];

	/** Where the bulk string of each argument begins. */
	private int[] starts = new int[16];

	private int count;

	private int key;

	/** The positions of the first part, and of the value that belongs to it. */
	private int firstPart;

	private int firstValue;

	private int step = 1;

	private int parts;

	/** The unit of an expiry in milliseconds. */
	private int unitMillis;

	private final BitSet differing = new BitSet();

	private boolean missing;

	/** The bytes of the reply that differ from the record; -1 for none. */
	private int foundFrom;

	private int foundTo;

	/**
	 * Reads a record.
	 * @param resp the array that holds its command, which must not change meanwhile
	 * @param start the index of the command
	 * @param sentAs the operation of the command
	 * @param expiries whether to compare what sets or removes an expiry
	 */
	void read(byte[] resp, int start, Operation operation, Operation sentAs, boolean expiries) {
		this.resp = resp;
		this.count = (int) Resp.number(resp, start + 1) - 1;
		if (this.starts.length <= this.count) {
			this.starts = new int[2 * this.count];
		}
		int at = Resp.skipBulk(resp, Resp.skipLine(resp, start));
		for (int i = 0; i < this.count; i++) {
			this.starts[i] = at;
			at = Resp.skipBulk(resp, at);
		}
		this.starts[this.count] = at;
		this.differing.clear();
		if (sentAs != operation) {
			// HSET with an expiry: its script, the number of keys, the key and the
			// expiry.
			set(Kind.FIELDS, 2, 4, 5, 2);
			return;
		}
		readNamed(operation.toString(), expiries);
	}

	private void readNamed(String operation, boolean expiries) {
		set(Kind.NONE, 0, this.count, this.count, 1);
		switch (operation) {
			case "SET" -> {
				if (!hasWord(2, "NX", "XX")) {
					set(Kind.STRINGS, 0, 0, 1, this.count);
				}
			}
			case "SETEX", "PSETEX" -> set(Kind.STRINGS, 0, 0, 2, this.count);
			case "MSET" -> set(Kind.STRINGS, 0, 0, 1, 2);
			case "HSET" -> set(Kind.FIELDS, 0, 1, 2, 2);
			case "SADD" -> set(Kind.MEMBERS, 0, 1, 1, 1);
			case "ZADD" -> readScores();
			case "JSON.SET" -> {
				if (this.count == 3) {
					set(Kind.JSON, 0, 1, 2, 2);
				}
			}
			case "DEL", "UNLINK" -> set(Kind.NO_KEYS, 0, 0, 0, 1);
			case "HDEL" -> set(Kind.NO_FIELDS, 0, 1, 1, 1);
			case "SREM" -> set(Kind.NO_MEMBERS, 0, 1, 1, 1);
			case "ZREM" -> set(Kind.NO_SCORES, 0, 1, 1, 1);
			case "HINCRBY", "HINCRBYFLOAT", "HSETNX" -> set(Kind.OTHER_PART, 0, 1, 1, this.count);
			case "ZINCRBY" -> set(Kind.OTHER_PART, 0, 2, 2, this.count);
			case "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST" -> readExpiry(operation, expiries);
			case "HEXPIRE", "HPEXPIRE", "HEXPIREAT", "HPEXPIREAT", "HPERSIST" ->
				set(Kind.NO_EFFECT, 0, 1, 1, this.count);
			default -> {
			}
		}
	}

	private void readScores() {
		int options = 1;
		boolean plain = true;
		while (options < this.count && isWord(options, "NX", "XX", "GT", "LT", "CH", "INCR")) {
			plain &= isWord(options, "CH");
			options++;
		}
		set((plain) ? Kind.SCORES : Kind.OTHER_PART, 0, options + 1, options, 2);
	}

	private void readExpiry(String operation, boolean expiries) {
		boolean persists = operation.equals("PERSIST");
		if (!persists && isPast(operation)) {
			// It removes the key.
			return;
		}
		boolean compared = expiries && this.count == ((persists) ? 1 : 2);
		set((!expiries) ? Kind.NO_EFFECT
				: (!compared) ? Kind.OTHER_EXPIRY
						: (persists) ? Kind.NO_EXPIRY : (operation.endsWith("AT")) ? Kind.MOMENT : Kind.EXPIRY,
				0, 0, 1, this.count);
		this.firstValue = (persists) ? 0 : 1;
		this.unitMillis = (operation.startsWith("P")) ? 1 : 1000;
	}

	private boolean isPast(String operation) {
		long time = longOf(1);
		return time <= 0 || (operation.endsWith("AT")
				&& time * ((operation.startsWith("P")) ? 1 : 1000) <= System.currentTimeMillis());
	}

	private long longOf(int argument) {
		try {
			return Long.parseLong(text(argument));
		}
		catch (NumberFormatException ex) {
			return 0;
		}
	}

	private void set(Kind kind, int key, int firstPart, int firstValue, int step) {
		this.kind = kind;
		this.key = key;
		this.firstPart = firstPart;
		this.firstValue = firstValue;
		this.step = Math.max(step, 1);
		this.parts = (kind == Kind.NONE) ? 0 : Math.max(0, this.count - firstPart + this.step - 1) / this.step;
	}

	private boolean hasWord(int from, String... words) {
		for (int i = from; i < this.count; i++) {
			if (isWord(i, words)) {
				return true;
			}
		}
		return false;
	}

	private boolean isWord(int argument, String... words) {
		return length(argument) <= 4 && Arrays.asList(words).contains(text(argument).toUpperCase(Locale.ROOT));
	}

	private int offset(int argument) {
		return Resp.skipLine(this.resp, this.starts[argument]);
	}

	private int length(int argument) {
		return (int) Resp.number(this.resp, this.starts[argument] + 1);
	}

	/** An argument, with a character for each byte. */
	private String text(int argument) {
		return new String(this.resp, offset(argument), length(argument), StandardCharsets.ISO_8859_1);
	}

	Kind kind() {
		return this.kind;
	}

	int parts() {
		return this.parts;
	}

	/** The key of a part, with a character for each byte. */
	String key(int part) {
		return text((this.kind.partsAreKeys()) ? this.firstPart + part * this.step : this.key);
	}

	/** The name of a part in its key, with a character for each byte. */
	String name(int part) {
		return (this.kind.partsAreKeys()) ? Differences.WHOLE : (this.kind.isOfExpiry()) ? Differences.EXPIRY
				: (this.kind == Kind.JSON) ? path() : Differences.PART + text(this.firstPart + part * this.step);
	}

	/** The path of a JSON document; its root is the whole key. */
	private String path() {
		String path = text(this.firstPart).replaceFirst("^[$.]\\.?", "");
		return (path.isEmpty()) ? Differences.WHOLE : Differences.PART + path;
	}

	/** The arguments of the record without an expiry that makes it a script. */
	byte[][] arguments() {
		int first = (this.key == 2) ? 4 : 1;
		byte[][] arguments = new byte[this.count - first + 1][];
		for (int i = 0; i < arguments.length; i++) {
			int argument = (i == 0) ? this.key : first + i - 1;
			arguments[i] = Arrays.copyOfRange(this.resp, offset(argument), offset(argument) + length(argument));
		}
		return arguments;
	}

	/** Writes the command that reads what the record should have left. */
	void writeTo(ByteBuf out) {
		String name = this.kind.command;
		if (name == null) {
			out.writeBytes(PING);
			return;
		}
		boolean several = this.kind == Kind.STRINGS && this.parts > 1;
		boolean keyed = !this.kind.partsAreKeys();
		boolean named = !this.kind.isOfExpiry();
		writeAscii(out, "*" + (1 + ((keyed) ? 1 : 0) + ((named) ? this.parts : 0)) + "\r\n");
		String command = (several) ? "MGET" : name;
		writeAscii(out, "$" + command.length() + "\r\n" + command + "\r\n");
		if (keyed) {
			writeArgument(out, this.key);
		}
		for (int part = 0; named && part < this.parts; part++) {
			writeArgument(out, this.firstPart + part * this.step);
		}
	}

	private void writeArgument(ByteBuf out, int argument) {
		out.writeBytes(this.resp, this.starts[argument], this.starts[argument + 1] - this.starts[argument]);
	}

	private static void writeAscii(ByteBuf out, String text) {
		out.writeCharSequence(text, StandardCharsets.US_ASCII);
	}

	/** Notes that nothing of the record is in Redis as it should be. */
	void differs() {
		this.differing.set(0, this.parts);
		this.missing = false;
		this.foundFrom = -1;
	}

	/**
	 * Compares the record with the reply.
	 * @return whether Redis has what the record should have left
	 */
	boolean compare(byte[] reply, int from) {
		this.differing.clear();
		this.foundFrom = -1;
		boolean list = reply[from] == '*';
		int elements = (list) ? (int) Resp.number(reply, from + 1) : 1;
		int at = (list) ? Resp.skipLine(reply, from) : from;
		boolean anyThere = false;
		for (int part = 0; part < Math.min(elements, this.parts); part++) {
			boolean bulk = reply[at] == '$';
			boolean nil = reply[at] == '_' || (bulk && reply[at + 1] == '-');
			int first = (bulk && !nil) ? Resp.skipLine(reply, at) : at + 1;
			int end = (nil || !bulk) ? Resp.skipLine(reply, at) : Resp.skipBulk(reply, at);
			boolean there = isThere(nil, reply, first);
			anyThere |= there;
			if (!isAsWritten(part, there, reply, first, end - 2) && !isRepeated(part)) {
				this.differing.set(part);
				if (this.foundFrom < 0 && there) {
					this.foundFrom = first;
					this.foundTo = end - 2;
				}
			}
			at = end;
		}
		if (elements < this.parts && !(this.kind == Kind.NO_KEYS)) {
			this.differing.set(Math.max(elements, 0), this.parts);
		}
		if (this.kind == Kind.NO_KEYS && !this.differing.isEmpty()) {
			this.differing.set(0, this.parts);
		}
		this.missing = !anyThere && !this.kind.removes();
		return this.differing.isEmpty();
	}

	private boolean isThere(boolean nil, byte[] reply, int first) {
		return !nil && switch (this.kind) {
			case MEMBERS, NO_MEMBERS, NO_KEYS -> reply[first] != '0';
			case EXPIRY, MOMENT, NO_EXPIRY -> Resp.number(reply, first) != -2;
			default -> true;
		};
	}

	private boolean isAsWritten(int part, boolean there, byte[] reply, int from, int to) {
		if (this.kind.removes() || !there) {
			return there != this.kind.removes();
		}
		int value = this.firstValue + part * this.step;
		return switch (this.kind) {
			case STRINGS, FIELDS ->
				Arrays.equals(this.resp, offset(value), offset(value) + length(value), reply, from, to);
			case SCORES -> score(text(value)) == score(new String(reply, from, to - from, StandardCharsets.US_ASCII));
			case JSON ->
				JsonComparison.isSame(Arrays.copyOfRange(this.resp, offset(value), offset(value) + length(value)),
						Arrays.copyOfRange(reply, from, to), text(this.firstPart).startsWith("$"));
			case EXPIRY -> isWithin(Resp.number(reply, from), longOf(value));
			case MOMENT -> Resp.number(reply, from) / 1000 == longOf(value) * this.unitMillis / 1000;
			case NO_EXPIRY -> Resp.number(reply, from) == -1;
			default -> true;
		};
	}

	private boolean isWithin(long millis, long time) {
		return millis >= 0 && (millis + this.unitMillis - 1) / this.unitMillis <= time;
	}

	/** Whether a later part of the record has the same name, so that it wins. */
	private boolean isRepeated(int part) {
		int argument = this.firstPart + part * this.step;
		for (int later = argument + this.step; this.kind.command != null && later < this.count; later += this.step) {
			if (length(later) == length(argument) && text(later).equals(text(argument))) {
				return true;
			}
		}
		return false;
	}

	private static double score(String text) {
		String plain = text.toLowerCase(Locale.ROOT).replace("infinity", "inf");
		try {
			return (plain.endsWith("inf"))
					? ((plain.startsWith("-")) ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY)
					: Double.parseDouble(plain);
		}
		catch (NumberFormatException ex) {
			return Double.NaN;
		}
	}

	/** The parts that differ; valid until the next record. */
	BitSet differing() {
		return this.differing;
	}

	/** Whether nothing was found, so that the key may not be there at all. */
	boolean isMissing() {
		return this.missing;
	}

	/** What Redis has in the first part that differs, or {@code null}. */
	byte @Nullable [] found(byte[] reply, int most) {
		if (this.foundFrom < 0) {
			return null;
		}
		int to = Math.min(this.foundTo, this.foundFrom + most);
		while (to < this.foundTo && to > this.foundFrom && (reply[to] & 0xC0) == 0x80) {
			// Not in the middle of a character.
			to--;
		}
		return Arrays.copyOfRange(reply, this.foundFrom, to);
	}

	/** What a record should have left, and how that is read. */
	enum Kind {

		/** Nothing can be compared, and all keys may have changed. */
		NONE(null),

		/** Nothing can be compared, and parts of the key may have changed. */
		OTHER_PART(null),

		/** Nothing can be compared, and the expiry of the key may have changed. */
		OTHER_EXPIRY(null),

		/** Nothing is compared, and nothing that is compared has changed. */
		NO_EFFECT(null),

		STRINGS("GET"),

		FIELDS("HMGET"),

		MEMBERS("SMISMEMBER"),

		SCORES("ZMSCORE"),

		JSON("JSON.GET"),

		EXPIRY("PTTL"),

		MOMENT("PEXPIRETIME"),

		NO_EXPIRY("PTTL"),

		NO_KEYS("EXISTS"),

		NO_FIELDS("HMGET"),

		NO_MEMBERS("SMISMEMBER"),

		NO_SCORES("ZMSCORE");

		private final @Nullable String command;

		Kind(@Nullable String command) {
			this.command = command;
		}

		boolean isComparable() {
			return this.command != null;
		}

		/** Whether the record leaves nothing of its parts. */
		boolean removes() {
			return this == NO_KEYS || this == NO_FIELDS || this == NO_MEMBERS || this == NO_SCORES;
		}

		boolean partsAreKeys() {
			return this == STRINGS || this == NO_KEYS;
		}

		boolean isOfExpiry() {
			return this == EXPIRY || this == MOMENT || this == NO_EXPIRY || this == OTHER_EXPIRY;
		}

		/** Whether the record makes the key if it is not there. */
		boolean creates() {
			return this == FIELDS || this == MEMBERS || this == SCORES || this == JSON || this == OTHER_PART;
		}

	}

}
