package io.pipeset.record.mapping;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * How a value stands for the bytes that Redis gets: {@code {name:hex}},
 * {@code {name:f32[1536]}}.
 *
 * @param kind what the value is
 * @param count how many numbers a vector has; 0 if any number of them is right
 */
record Form(Kind kind, int count) {

	/** Larger than the vectors of any model. */
	private static final int MAX_COUNT = 1_000_000;

	/**
	 * Texts after a colon that are meant as a form and not as a part of a name. Types of
	 * columns, such as {@code :int} and {@code :string[]}, are not among them.
	 */
	private static final Pattern LIKE_A_FORM = Pattern
		.compile("(?i)(?:(?:f|fp|bf|float)\\d{1,3}|base\\d{1,3}|hex)(?:\\[[^\\]]*])?");

	/**
	 * Finds a form.
	 * @param label the text after the colon
	 * @return the form, or {@code null} if there is none of this label
	 */
	static @Nullable Form find(String label) {
		int bracket = label.indexOf('[');
		String name = (bracket < 0) ? label : label.substring(0, bracket);
		for (Kind kind : Kind.values()) {
			if (kind.label.equals(name)) {
				int count = (bracket < 0) ? 0 : count(label.substring(bracket));
				return (bracket < 0 || (count > 0 && kind.isVector())) ? new Form(kind, count) : null;
			}
		}
		return null;
	}

	private static int count(String brackets) {
		if (!brackets.matches("\\[[0-9]{1,7}]")) {
			return -1;
		}
		int count = Integer.parseInt(brackets, 1, brackets.length() - 1, 10);
		return (count <= MAX_COUNT) ? count : -1;
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
						+ ", and a count of numbers from 1 to " + MAX_COUNT + " as in f32[1536]"
				: null;
	}

	/**
	 * Appends the bytes that a text stands for.
	 * @return what is wrong with the text, or {@code null}
	 */
	@Nullable String append(ArgumentBytes out, byte[] source, int offset, int length) {
		boolean read = switch (this.kind) {
			case BASE64 -> out.appendBase64(source, offset, length);
			case HEX -> out.appendHex(source, offset, length);
			default -> true;
		};
		if (!read) {
			return "'" + Excerpt.of(source, offset, length) + "'";
		}
		return (this.kind.isVector()) ? new Vector(this, out, source, offset, length).append() : null;
	}

	@Override
	public String toString() {
		return this.kind.label + ((this.count > 0) ? "[" + this.count + "]" : "");
	}

	/** What a value with a form is. */
	enum Kind {

		/**
		 * <a href="https://www.rfc-editor.org/rfc/rfc4648#section-4">Base64</a>.
		 */
		BASE64,

		/** Two hexadecimal digits a byte, in upper or lower case. */
		HEX,

		/** Numbers of 16 bits, the binary16 of IEEE 754. */
		F16,

		/** Numbers of 32 bits, the binary32 of IEEE 754. */
		F32,

		/** Numbers of 64 bits, the binary64 of IEEE 754. */
		F64;

		private final String label = name().toLowerCase(Locale.ROOT);

		boolean isVector() {
			return this != BASE64 && this != HEX;
		}

	}

}
