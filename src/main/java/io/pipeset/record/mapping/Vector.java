package io.pipeset.record.mapping;

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
 *
 * @param form the kind of the numbers, and how many there have to be
 * @param out gets the bytes
 */
record Vector(Form form, ArgumentBytes out) {

	/** The smallest number that binary16 rounds to infinity. */
	private static final double TOO_LARGE_FOR_F16 = 65_520;

	private static final int F16_FRACTION_BITS = 10;

	private static final int F16_MIN_EXPONENT = -14;

	/**
	 * Appends the bytes of all numbers.
	 * @return what is wrong with the text, or {@code null}
	 */
	@Nullable String append(byte[] source, int from, int to) {
		int start = skipBlanks(source, from, to);
		int end = to;
		while (end > start && isBlank(source[end - 1])) {
			end--;
		}
		if (end - start >= 2 && isEnclosed(source[start], source[end - 1])) {
			start++;
			end--;
		}
		int found = 0;
		int at = skipBlanks(source, start, end);
		while (at < end) {
			int stop = at;
			while (stop < end && source[stop] != ',' && !isBlank(source[stop])) {
				stop++;
			}
			found++;
			String problem = appendNumber(source, at, stop, found);
			if (problem != null) {
				return problem;
			}
			at = skipBlanks(source, stop, end);
			if (at < end && source[at] == ',') {
				at = skipBlanks(source, at + 1, end);
				if (at == end) {
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

	private static int skipBlanks(byte[] source, int from, int to) {
		int at = from;
		while (at < to && isBlank(source[at])) {
			at++;
		}
		return at;
	}

	private static boolean isBlank(byte character) {
		return character == ' ' || character == '\n' || character == '\t' || character == '\r';
	}

	private @Nullable String appendNumber(byte[] source, int from, int to, int number) {
		if (!isDecimal(source, from, to)) {
			return "its value " + number + " is '" + Excerpt.of(source, from, to - from) + "'";
		}
		try {
			if (appendValue(source, from, to - from)) {
				return null;
			}
		}
		catch (NumberFormatException ex) {
			return "its value " + number + " is '" + Excerpt.of(source, from, to - from) + "'";
		}
		return "its value " + number + ", '" + Excerpt.of(source, from, to - from) + "', is out of range";
	}

	/** Whether a text has no other characters than a decimal number. */
	private static boolean isDecimal(byte[] source, int from, int to) {
		for (int i = from; i < to; i++) {
			byte c = source[i];
			if ((c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E') {
				return false;
			}
		}
		return true;
	}

	/**
	 * Appends one number.
	 * @return {@code false} if the number is too large for its type
	 */
	private boolean appendValue(byte[] source, int offset, int length) {
		if (this.form.kind() == Form.Kind.F32) {
			float number = JavaFloatParser.parseFloat(source, offset, length);
			this.out.appendLittleEndian(Float.floatToRawIntBits(number), Float.BYTES);
			return !Float.isInfinite(number);
		}
		double number = JavaDoubleParser.parseDouble(source, offset, length);
		if (this.form.kind() == Form.Kind.F64) {
			this.out.appendLittleEndian(Double.doubleToRawLongBits(number), Double.BYTES);
			return !Double.isInfinite(number);
		}
		this.out.appendLittleEndian(f16(number), Short.BYTES);
		return Math.abs(number) < TOO_LARGE_FOR_F16;
	}

	/**
	 * The binary16 that is nearest to a number; of two that are equally near, the even
	 * one.
	 */
	private static long f16(double number) {
		double size = Math.abs(number);
		int exponent = Math.max(Math.getExponent(size), F16_MIN_EXPONENT);
		// Scaled by a power of two, so that only rint rounds. A carry raises the
		// exponent.
		long fraction = (long) Math.rint(Math.scalb(size, F16_FRACTION_BITS - exponent));
		long bits = ((long) (exponent - F16_MIN_EXPONENT) << F16_FRACTION_BITS) + fraction;
		return (Math.copySign(1, number) < 0) ? bits | 0x8000 : bits;
	}

}
