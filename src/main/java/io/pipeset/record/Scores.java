package io.pipeset.record;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * Scores of sorted sets and increments of floats, which Redis keeps as doubles: an
 * integer that no double is, or a fraction of more digits, becomes another number.
 */
final class Scores {

	/** All integers of so many digits are doubles. */
	private static final int EXACT_DIGITS = 15;

	/** The most digits that a fraction may have. */
	private static final int MOST_DIGITS = 17;

	/** A number with more characters is no longer compared. */
	private static final int MOST_CHARACTERS = 400;

	private Scores() {
	}

	/**
	 * Notes a warning if an argument is a number that a double cannot hold.
	 * @return {@code null}, because it refuses nothing
	 */
	static @Nullable String warn(Record record, int argument) {
		if (isRounded(record.source(argument), record.offset(argument), record.length(argument))) {
			record.warn(RecordWarning.ROUNDED_SCORE);
		}
		return null;
	}

	static boolean isRounded(byte[] source, int offset, int length) {
		int digits = 0;
		int point = -1;
		int last = 0;
		for (int i = offset; i < offset + length; i++) {
			byte b = source[i];
			if (b >= '0' && b <= '9') {
				digits += (digits > 0 || b != '0') ? 1 : 0;
				last = (b != '0') ? digits : last;
			}
			else if (b == '.' && point < 0) {
				point = digits;
			}
			else if (i > offset || (b != '-' && b != '+')) {
				return false;
			}
		}
		boolean whole = point < 0 || last <= point;
		if (!whole) {
			return last > MOST_DIGITS;
		}
		return ((point < 0) ? digits : point) > EXACT_DIGITS && isBetweenDoubles(source, offset, length);
	}

	private static boolean isBetweenDoubles(byte[] source, int offset, int length) {
		if (length > MOST_CHARACTERS) {
			return true;
		}
		String text = new String(source, offset, length, StandardCharsets.ISO_8859_1);
		double nearest = Double.parseDouble(text);
		return !Double.isInfinite(nearest) && new BigDecimal(text).compareTo(new BigDecimal(nearest)) != 0;
	}

}
