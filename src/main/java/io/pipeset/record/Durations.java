package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Reads the durations of settings and records: an integer with a unit, such as
 * {@code 90s}, or ISO 8601, such as {@code PT1M30S}. It reads bytes and creates no
 * object, because a job may have millions of records with a duration.
 */
public final class Durations {

	/** The result for a text that is not a duration. */
	static final long NONE = -1;

	private static final int MAX_DIGITS = 18;

	private static final long SECOND = 1000;

	private static final long MINUTE = 60 * SECOND;

	private static final long HOUR = 60 * MINUTE;

	private static final long DAY = 24 * HOUR;

	private Durations() {
	}

	/**
	 * Reads a duration.
	 * @return whole milliseconds, or {@code null} if the text is not a duration
	 */
	public static @Nullable Duration parse(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		long millis = millis(bytes, 0, bytes.length);
		return (millis != NONE) ? Duration.ofMillis(millis) : null;
	}

	/**
	 * Reads a duration.
	 * @return milliseconds, 0 or more, or {@link #NONE}
	 */
	static long millis(byte[] source, int offset, int length) {
		if (length > 1 && lower(source[offset]) == 'p') {
			return iso(source, offset + 1, offset + length);
		}
		int unit = skipDigits(source, offset, offset + length);
		return part(source, offset, unit, simpleUnit(source, unit, offset + length));
	}

	private static long simpleUnit(byte[] source, int from, int to) {
		if (to - from == 2 && lower(source[from]) == 'm' && lower(source[from + 1]) == 's') {
			return 1;
		}
		return (to - from != 1) ? NONE : (lower(source[from]) == 'd') ? DAY : timeUnit(source[from]);
	}

	/** Reads the part after the P: days, hours, minutes and seconds, in this order. */
	private static long iso(byte[] source, int from, int to) {
		long total = 0;
		long smallest = Long.MAX_VALUE;
		boolean time = false;
		int at = from;
		while (at < to) {
			if (!time && lower(source[at]) == 't') {
				time = true;
				at++;
				if (at == to) {
					return NONE;
				}
				continue;
			}
			int end = skipDigits(source, at, to);
			int fraction = (end < to && source[end] == '.') ? skipDigits(source, end + 1, to) : end;
			if (fraction == to) {
				return NONE;
			}
			long unit = (time) ? timeUnit(source[fraction]) : (lower(source[fraction]) == 'd') ? DAY : NONE;
			long part = part(source, at, end, unit);
			if (fraction != end) {
				part = (unit == SECOND) ? plusFraction(part, source, end + 1, fraction) : NONE;
			}
			if (part == NONE || unit >= smallest || total + part < 0) {
				return NONE;
			}
			total += part;
			smallest = unit;
			at = fraction + 1;
		}
		return (smallest < Long.MAX_VALUE) ? total : NONE;
	}

	/**
	 * A number of units in milliseconds; {@link #NONE} if it is not a number, or too
	 * large.
	 */
	private static long part(byte[] source, int from, int to, long unit) {
		if (unit == NONE || from == to || to - from > MAX_DIGITS) {
			return NONE;
		}
		long number = 0;
		for (int i = from; i < to; i++) {
			number = number * 10 + (source[i] - '0');
		}
		return (number > Long.MAX_VALUE / unit) ? NONE : number * unit;
	}

	/**
	 * Adds the decimal fraction of a second. Digits after the third one have to be zeros.
	 */
	private static long plusFraction(long seconds, byte[] source, int from, int to) {
		if (seconds == NONE || from == to) {
			return NONE;
		}
		long millis = 0;
		long digitMillis = SECOND;
		for (int i = from; i < to; i++) {
			digitMillis /= 10;
			if (digitMillis == 0 && source[i] != '0') {
				return NONE;
			}
			millis += digitMillis * (source[i] - '0');
		}
		return (seconds + millis < 0) ? NONE : seconds + millis;
	}

	private static long timeUnit(byte letter) {
		return switch (lower(letter)) {
			case 'h' -> HOUR;
			case 'm' -> MINUTE;
			case 's' -> SECOND;
			default -> NONE;
		};
	}

	static int skipDigits(byte[] source, int from, int to) {
		int at = from;
		while (at < to && source[at] >= '0' && source[at] <= '9') {
			at++;
		}
		return at;
	}

	private static int lower(byte letter) {
		return letter | 0x20;
	}

}
