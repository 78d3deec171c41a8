package io.pipeset.record.json;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

import io.pipeset.record.Expiry;
import io.pipeset.record.Timestamps;
import io.pipeset.record.encoding.Encoding;
import org.jspecify.annotations.Nullable;

/** The members a record that is an object may have, the usual ones first. */
enum JsonMember {

	OP("a string", JsonKind.STRING),

	KEY("a string, a number or a boolean", JsonKind.STRING, JsonKind.NUMBER, JsonKind.BOOLEAN),

	VALUE("anything but null", JsonKind.STRING, JsonKind.NUMBER, JsonKind.BOOLEAN, JsonKind.OBJECT, JsonKind.ARRAY),

	FIELDS("an object", JsonKind.OBJECT),

	TTL(Expiry.ALLOWED, JsonKind.NUMBER, JsonKind.STRING) {
		@Override
		boolean accepts(JsonKind kind, byte[] text, int offset, int length) {
			return super.accepts(kind, text, offset, length) && Expiry.isTtl(text, offset, length);
		}
	},

	EXPIRE_AT(Timestamps.ALLOWED, JsonKind.NUMBER, JsonKind.STRING) {
		@Override
		boolean accepts(JsonKind kind, byte[] text, int offset, int length) {
			return super.accepts(kind, text, offset, length) && Timestamps.isMoment(text, offset, length);
		}
	},

	COUNT("a whole number, 0 or more", JsonKind.NUMBER) {
		@Override
		boolean accepts(JsonKind kind, byte[] text, int offset, int length) {
			return super.accepts(kind, text, offset, length) && isWhole(text, offset, length);
		}
	},

	ARGS("an array of strings, numbers and booleans", JsonKind.ARRAY),

	ID("a string or a number, of at most 256 bytes", JsonKind.STRING, JsonKind.NUMBER) {
		@Override
		boolean accepts(JsonKind kind, byte[] text, int offset, int length) {
			return super.accepts(kind, text, offset, length) && length <= 256;
		}
	},

	ERROR("anything", JsonKind.values()),

	RAW("anything", JsonKind.values()),

	ENCODING("'utf8' or 'base64'", JsonKind.STRING) {
		@Override
		boolean accepts(JsonKind kind, byte[] text, int offset, int length) {
			return super.accepts(kind, text, offset, length) && Encoding.find(text, offset, length) != null;
		}
	};

	private static final JsonMember[] ALL = values();

	private static final String NAMES = Arrays.stream(ALL)
		.map((member) -> member.label)
		.collect(Collectors.joining(", "));

	// Record.number(int) reads no more.
	private static final int MOST_DIGITS = 18;

	private final String label;

	private final byte[] name;

	private final String takes;

	private final Set<JsonKind> kinds;

	JsonMember(String takes, JsonKind... kinds) {
		this.label = name().toLowerCase(Locale.ROOT).replace("_at", "At");
		this.name = this.label.getBytes(StandardCharsets.US_ASCII);
		this.takes = takes;
		this.kinds = EnumSet.noneOf(JsonKind.class);
		this.kinds.addAll(Arrays.asList(kinds));
	}

	/** Finds a member by its name, which is exactly one of these, or {@code null}. */
	static @Nullable JsonMember find(byte[] bytes, int offset, int length) {
		for (JsonMember member : ALL) {
			byte[] name = member.name;
			if (name.length == length && name[0] == bytes[offset]
					&& Arrays.equals(name, 0, length, bytes, offset, offset + length)) {
				return member;
			}
		}
		return null;
	}

	/** The names of all, for messages. */
	static String names() {
		return NAMES;
	}

	/** The member's name as it is written. */
	String label() {
		return this.label;
	}

	/** The values that the member may have, for messages. */
	String takes() {
		return this.takes;
	}

	/**
	 * The member's place in an array of ints that has one for each, which an EnumMap
	 * would box.
	 */
	@SuppressWarnings("EnumOrdinal")
	int index() {
		return ordinal();
	}

	/** The member's bit in a number that is a set of them. */
	int bit() {
		return 1 << index();
	}

	/** Whether the member may be an empty string in the place of a null. */
	boolean mayBeEmpty() {
		return this == VALUE;
	}

	/** Whether a null is left out where it may not be an empty string. */
	boolean mayBeLeftOut() {
		return this == TTL || this == EXPIRE_AT || this == ID;
	}

	/** Whether the member may have a value. */
	boolean accepts(JsonKind kind, byte[] text, int offset, int length) {
		return this.kinds.contains(kind);
	}

	private static boolean isWhole(byte[] text, int offset, int length) {
		for (int i = offset; i < offset + length; i++) {
			if (text[i] < '0' || text[i] > '9') {
				return false;
			}
		}
		return length <= MOST_DIGITS;
	}

}
