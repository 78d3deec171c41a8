package io.pipeset.record.mapping;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;

import ch.randelshofer.fastdoubleparser.JavaDoubleParser;
import ch.randelshofer.fastdoubleparser.JavaFloatParser;
import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * Turns the text of a vector into the little-endian bytes that searches and vector sets
 * read. The text is a JSON array, or numbers with commas or white space between them, in
 * brackets, braces or neither: {@code [0.1,2]}, {@code 0.1 2}, PostgreSQL's
 * {@code {0.1,2}} and numpy's {@code [0.1 2. ]}.
 * <p>
 * Most numbers of vectors are short decimals, which take one division here. A library
 * parses all others, and those for which the division could give another number than the
 * nearest one.
 */
final class Vector {

	/** The powers of ten that a double has exactly. */
	private static final double[] POWERS_OF_TEN = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
			1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

	/** The most digits that a long takes, whatever they are. */
	private static final int MAX_DIGITS = 18;

	/** The bits of a double's fraction that a float does not have. */
	private static final long ROUNDED_BITS = (1L << 29) - 1;

	/** These bits where a double is as near to one float as to the next. */
	private static final long HALF_WAY = 1L << 28;

	/**
	 * The most units by which a rounded dividend and a division are wrong, and one more.
	 */
	private static final int MAX_ERROR = 3;

	/** The smallest number that binary16 rounds to infinity. */
	private static final double TOO_LARGE_FOR_F16 = 65_520;

	/** The most characters of a number, so that comparing it takes no time. */
	private static final int MAX_NUMBER = 400;

	private static final int F16_FRACTION_BITS = 10;

	private static final int F16_MIN_EXPONENT = -14;

	private final Form form;

	private final ArgumentBytes out;

	private final byte[] source;

	private int at;

	private int end;

	/**
	 * Has appended nothing yet.
	 * @param form the kind of the numbers, and how many there have to be
	 * @param out gets the bytes
	 * @param source the array that holds the text
	 */
	Vector(Form form, ArgumentBytes out, byte[] source, int offset, int length) {
		this.form = form;
		this.out = out;
		this.source = source;
		this.at = offset;
		this.end = offset + length;
	}

	/**
	 * Appends the bytes of all numbers.
	 * @return what is wrong with the text, or {@code null}
	 */
	@Nullable String append() {
		skipBlanks();
		while (this.end > this.at && isBlank(this.source[this.end - 1])) {
			this.end--;
		}
		if (this.end - this.at >= 2 && isEnclosed(this.source[this.at], this.source[this.end - 1])) {
			this.at++;
			this.end--;
			skipBlanks();
		}
		int found = 0;
		while (this.at < this.end) {
			found++;
			if (!(this.form.kind() == Form.Kind.F32 && appendShortFloat())) {
				String problem = appendNumber();
				if (problem != null) {
					return "its value " + found + problem;
				}
			}
			skipBlanks();
			if (this.at < this.end && this.source[this.at] == ',') {
				this.at++;
				skipBlanks();
				if (this.at == this.end) {
					return "it ends with a comma";
				}
			}
		}
		if (found == 0) {
			return "it has no numbers";
		}
		int count = this.form.count();
		return (count > 0 && found != count) ? "it has " + found + " numbers" : null;
	}

	private static boolean isEnclosed(byte first, byte last) {
		return (first == '[' && last == ']') || (first == '{' && last == '}');
	}

	private void skipBlanks() {
		while (this.at < this.end && isBlank(this.source[this.at])) {
			this.at++;
		}
	}

	private static boolean isBlank(byte character) {
		return character == ' ' || character == '\n' || character == '\t' || character == '\r';
	}

	private static boolean isSeparator(byte character) {
		return character == ',' || isBlank(character);
	}

	/**
	 * Appends a number of 32 bits if it is a short decimal without an exponent.
	 * @return {@code false} if it is not, or the nearest float is not sure; then nothing
	 * is appended or skipped
	 */
	private boolean appendShortFloat() {
		byte[] source = this.source;
		int end = this.end;
		int next = this.at;
		boolean negative = source[next] == '-';
		next += (negative) ? 1 : 0;
		int first = next;
		int point = -1;
		long digits = 0;
		for (; next < end; next++) {
			int digit = source[next] - '0';
			if (digit >= 0 && digit <= 9) {
				digits = digits * 10 + digit;
			}
			else if (digit == '.' - '0' && point < 0) {
				point = next;
			}
			else {
				break;
			}
		}
		int decimals = (point < 0) ? 0 : next - point - 1;
		boolean whole = next == end || isSeparator(source[next]);
		if (!whole || decimals >= POWERS_OF_TEN.length || !isShort(first, next, point)) {
			return false;
		}
		double number = digits / POWERS_OF_TEN[decimals];
		long rounded = Double.doubleToRawLongBits(number) & ROUNDED_BITS;
		if (Math.abs(rounded - HALF_WAY) <= MAX_ERROR || (number < Float.MIN_NORMAL && digits != 0)) {
			return false;
		}
		float nearest = (float) ((negative) ? -number : number);
		this.out.appendLittleEndian(Float.floatToRawIntBits(nearest));
		this.at = next;
		return true;
	}

	/** Whether a number has at least one digit, and its digits fit into a long. */
	private boolean isShort(int first, int next, int point) {
		int digits = next - first - ((point < 0) ? 0 : 1);
		for (int i = first; digits > MAX_DIGITS && (this.source[i] == '0' || i == point); i++) {
			digits -= (i == point) ? 0 : 1;
		}
		return digits > 0 && digits <= MAX_DIGITS;
	}

	/**
	 * Appends any number.
	 * @return what is wrong with it, or {@code null}
	 */
	private @Nullable String appendNumber() {
		int first = this.at;
		boolean decimal = true;
		while (this.at < this.end && !isSeparator(this.source[this.at])) {
			decimal &= isDecimal(this.source[this.at++]);
		}
		if (this.at - first > MAX_NUMBER) {
			return " has more than " + MAX_NUMBER + " characters: '" + Excerpt.of(this.source, first, this.at - first)
					+ "'";
		}
		String problem = " is '";
		if (decimal) {
			try {
				problem = (appendValue(first, this.at - first)) ? null : " is out of range: '";
			}
			catch (NumberFormatException ex) {
				// The library's message has nothing to add.
			}
		}
		return (problem != null) ? problem + Excerpt.of(this.source, first, this.at - first) + "'" : null;
	}

	/** Whether a decimal number may have a character. */
	private static boolean isDecimal(byte c) {
		return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
	}

	/**
	 * Appends the value of a number.
	 * @return {@code false} if the number is too large for its type
	 * @throws NumberFormatException if it is no number
	 */
	private boolean appendValue(int offset, int length) {
		if (this.form.kind() == Form.Kind.F32) {
			float number = JavaFloatParser.parseFloat(this.source, offset, length);
			this.out.appendLittleEndian(Float.floatToRawIntBits(number));
			return !Float.isInfinite(number);
		}
		double number = JavaDoubleParser.parseDouble(this.source, offset, length);
		if (this.form.kind() == Form.Kind.F64) {
			this.out.appendLittleEndian(Double.doubleToRawLongBits(number));
			return !Double.isInfinite(number);
		}
		double size = Math.abs(number);
		// A text next to the limit may have been rounded to it.
		if (size < TOO_LARGE_FOR_F16 || (size == TOO_LARGE_FOR_F16 && compare(size, offset, length) < 0)) {
			this.out.appendLittleEndian(f16(number, offset, length));
			return true;
		}
		return false;
	}

	/** Compares the size of a number as it is written with the nearest double. */
	private int compare(double size, int offset, int length) {
		return new BigDecimal(new String(this.source, offset, length, StandardCharsets.ISO_8859_1)).abs()
			.compareTo(new BigDecimal(size));
	}

	/**
	 * The binary16 that is nearest to a number; of two that are equally near, the even
	 * one.
	 */
	private short f16(double number, int offset, int length) {
		double size = Math.abs(number);
		int exponent = Math.max(Math.getExponent(size), F16_MIN_EXPONENT);
		// Scaled by a power of two: only rint rounds. A carry raises the exponent.
		double scaled = Math.scalb(size, F16_FRACTION_BITS - exponent);
		long fraction = (long) Math.rint(scaled);
		if (scaled - Math.floor(scaled) == 0.5) {
			// The text may be on either side of this middle, and was rounded to it.
			int side = compare(size, offset, length);
			fraction = (side == 0) ? fraction : (long) ((side < 0) ? Math.floor(scaled) : Math.ceil(scaled));
		}
		long bits = ((long) (exponent - F16_MIN_EXPONENT) << F16_FRACTION_BITS) + fraction;
		return (short) ((Math.copySign(1, number) < 0) ? bits | 0x8000 : bits);
	}

}
