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
import io.pipeset.record.grammar.JsonKind;
import org.jspecify.annotations.Nullable;

/** The members of a record that is an object, the frequent ones first. */
enum JsonMember {

	OP("a string", JsonKind.STRING),

	KEY("a string, a number or a boolean", JsonKind.STRING, JsonKind.NUMBER, JsonKind.BOOLEAN),

	VALUE("anything but null", JsonKind.STRING, JsonKind.NUMBER, JsonKind.BOOLEAN, JsonKind.OBJECT, JsonKind.ARRAY),

	FIELDS("an object", JsonKind.OBJECT),

	TTL(Expiry.ALLOWED, JsonKind.NUMBER, JsonKind.STRING),

	EXPIRE_AT(Timestamps.ALLOWED, JsonKind.NUMBER, JsonKind.STRING),

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

	FOUND("anything", JsonKind.values()),

	RAW("anything", JsonKind.values()),

	SETTINGS("an object", JsonKind.OBJECT),

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

	// Numbers with 18 digits always fit into a long.
	private static final int MAX_DIGITS = 18;

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

	/** Finds a member by its exact name. Returns {@code null} if there is none. */
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

	/** The names of all members, for messages. */
	static String names() {
		return NAMES;
	}

	/** The member's name in JSON. */
	String label() {
		return this.label;
	}

	/** Describes the allowed values, for messages. */
	String takes() {
		return this.takes;
	}

	/**
	 * The member's index in an array of ints with one element per member. An EnumMap
	 * would box the ints.
	 */
	@SuppressWarnings("EnumOrdinal")
	int index() {
		return ordinal();
	}

	/** The member's bit in a set of members. */
	int bit() {
		return 1 << index();
	}

	/** Whether {@code nulls=empty} replaces the member's null by an empty string. */
	boolean mayBeEmpty() {
		return this == VALUE;
	}

	/** Whether {@code nulls=empty} leaves out the member's null. */
	boolean mayBeLeftOut() {
		return this == TTL || this == EXPIRE_AT || this == ID;
	}

	/** Whether a value is allowed for the member. */
	boolean accepts(JsonKind kind, byte[] text, int offset, int length) {
		return this.kinds.contains(kind);
	}

	private static boolean isWhole(byte[] text, int offset, int length) {
		for (int i = offset; i < offset + length; i++) {
			if (text[i] < '0' || text[i] > '9') {
				return false;
			}
		}
		return length <= MAX_DIGITS;
	}

}
