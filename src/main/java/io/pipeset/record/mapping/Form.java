package io.pipeset.record.mapping;

import java.time.ZoneId;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.Timestamps;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.grammar.JsonText;
import org.jspecify.annotations.Nullable;

/**
 * How a value stands for the bytes that Redis gets: {@code {name:hex}},
 * {@code {name:f32[1536]}}.
 *
 * @param kind what the value is
 * @param count how many numbers a vector has; 0 if any number of them is right
 * @param separator the character between the elements of {@link Kind#JOIN}, or empty
 */
record Form(Kind kind, int count, String separator) {

	/** Larger than the vectors of any model. */
	private static final int MAX_COUNT = 1_000_000;

	/** A form, where it may stand: to the end, or up to a default. */
	private static final Pattern FORM = Pattern
		.compile("(?s)([a-z0-9]+)(?:\\[([0-9]{1,7})]|\\((.|[\\x{10000}-\\x{10FFFF}])\\))?");

	/**
	 * Texts after a colon that are meant as a form and not as a part of a name. Types of
	 * columns, such as {@code :int} and {@code :string[]}, are not among them.
	 */
	private static final Pattern LIKE_A_FORM = Pattern
		.compile("(?i)(?:(?:f|fp|bf|float)\\d{1,3}|base\\d{1,3}|hex|unix\\w*|join)(?:[\\[(].*[])])?");

	private static final long SECOND = 1000;

	/**
	 * Finds a form.
	 * @param label the text after the colon
	 * @return the form, or {@code null} if there is none of this label
	 */
	static @Nullable Form find(String label) {
		Matcher parts = FORM.matcher(label);
		if (!parts.matches()) {
			return null;
		}
		for (Kind kind : Kind.values()) {
			if (kind.label.equals(parts.group(1))) {
				int count = (parts.group(2) != null) ? Integer.parseInt(parts.group(2)) : 0;
				boolean counted = parts.group(2) == null || (kind.isVector() && count > 0 && count <= MAX_COUNT);
				boolean separated = (kind == Kind.JOIN) == (parts.group(3) != null);
				return (counted && separated) ? new Form(kind, count, String.valueOf(parts.group(3))) : null;
			}
		}
		return null;
	}

	/**
	 * Finds out whether a name ends with a form that does not exist.
	 * @return what is wrong with it; {@code null} if the name is fine
	 */
	static @Nullable String problem(String name) {
		String label = name.substring(name.lastIndexOf(':') + 1);
		boolean unknown = label.length() < name.length() && find(label) == null && LIKE_A_FORM.matcher(label).matches();
		return (unknown)
				? "has the name '" + Excerpt.of(name) + "', and '" + Excerpt.of(label) + "' is not a form: allowed are "
						+ Arrays.stream(Kind.values()).map((kind) -> kind.label).collect(Collectors.joining(", "))
						+ ", a count of numbers from 1 to " + MAX_COUNT + " as in f32[1536], and the separator of join,"
						+ " as in join(,)"
				: null;
	}

	/**
	 * Appends the bytes that a value stands for.
	 * @param zone the zone of timestamps without one; {@code null} if they are refused
	 * @return what is wrong with the value, or {@code null}
	 */
	@Nullable String append(ArgumentBytes out, State state, byte[] source, int offset, int length, @Nullable ZoneId zone) {
		boolean text = state == State.TEXT;
		boolean read = switch (this.kind) {
			case JSON -> appendJson(out, state, source, offset, length);
			case NUMBER -> (text || state == State.SCALAR) && appendNumber(out, source, offset, length);
			case UNIX, UNIXMS -> (text || state == State.SCALAR) && appendTimestamp(out, source, offset, length, zone);
			case BASE64 -> text && out.appendAnyBase64(source, offset, length);
			case HEX -> text && appendHex(out, source, offset, length);
			case JOIN -> false;
			default -> state != State.BYTES;
		};
		if (!read) {
			return "'" + Excerpt.of(source, offset, length) + "'" + this.kind.hint;
		}
		return (this.kind.isVector()) ? new Vector(this, out, source, offset, length).append() : null;
	}

	/** Appends a value of JSON: a text with its quotes and escapes, bytes as Base64. */
	static boolean appendJson(ArgumentBytes out, State state, byte[] source, int offset, int length) {
		switch (state) {
			case TEXT -> JsonText.appendString(out, source, offset, length);
			case BYTES -> JsonText.appendBase64(out, source, offset, length);
			default -> out.append(source, offset, length);
		}
		return true;
	}

	private static boolean appendNumber(ArgumentBytes out, byte[] source, int offset, int length) {
		boolean number = JsonText.isNumber(source, offset, offset + length);
		if (number) {
			out.append(source, offset, length);
		}
		return number;
	}

	private boolean appendTimestamp(ArgumentBytes out, byte[] source, int offset, int length, @Nullable ZoneId zone) {
		long millis = Timestamps.millis(source, offset, length, zone);
		if (millis == Timestamps.NONE) {
			return false;
		}
		out.append((this.kind == Kind.UNIXMS) ? Long.toString(millis) : seconds(millis));
		return true;
	}

	/** Seconds with up to three digits of a fraction, where the timestamp has one. */
	private static String seconds(long millis) {
		long fraction = Math.abs(millis % SECOND);
		String whole = ((millis < 0) ? "-" : "") + Math.abs(millis / SECOND);
		return (fraction == 0) ? whole : whole + String.format(Locale.ROOT, ".%03d", fraction).replaceFirst("0+$", "");
	}

	/** Hexadecimal digits, after {@code \x} of PostgreSQL or {@code 0x} of MariaDB. */
	private static boolean appendHex(ArgumentBytes out, byte[] source, int offset, int length) {
		boolean prefixed = length >= 2 && source[offset + 1] == 'x'
				&& (source[offset] == '\\' || source[offset] == '0');
		return (prefixed) ? out.appendHex(source, offset + 2, length - 2) : out.appendHex(source, offset, length);
	}

	@Override
	public String toString() {
		return this.kind.label + ((this.count > 0) ? "[" + this.count + "]" : "")
				+ ((this.kind == Kind.JOIN) ? "(" + this.separator + ")" : "");
	}

	/** What a value with a form is. */
	enum Kind {

		/** JSON: a text has quotes and escapes. */
		JSON(""),

		/** A number of JSON, as it is written. */
		NUMBER(" is no number of JSON"),

		/** A timestamp, as seconds since 1970. */
		UNIX(" is no timestamp; one without a zone needs the setting zone"),

		/** A timestamp, as milliseconds since 1970. */
		UNIXMS(" is no timestamp; one without a zone needs the setting zone"),

		/**
		 * <a href="https://www.rfc-editor.org/rfc/rfc4648#section-4">Base64</a>.
		 */
		BASE64(""),

		/** Two hexadecimal digits a byte, in upper or lower case. */
		HEX(""),

		/** Numbers of 16 bits, the binary16 of IEEE 754. */
		F16(""),

		/** Numbers of 32 bits, the binary32 of IEEE 754. */
		F32(""),

		/** Numbers of 64 bits, the binary64 of IEEE 754. */
		F64(""),

		/** The elements of an array, as one text. */
		JOIN(" is no array");

		private final String label = name().toLowerCase(Locale.ROOT);

		private final String hint;

		Kind(String hint) {
			this.hint = hint;
		}

		boolean isVector() {
			return this == F16 || this == F32 || this == F64;
		}

	}

}
