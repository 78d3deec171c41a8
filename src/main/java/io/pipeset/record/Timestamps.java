package io.pipeset.record;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.Month;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Reads timestamps: ISO 8601, or seconds or milliseconds since 1970. It reads bytes,
 * because a job may have millions of records with a timestamp.
 */
public final class Timestamps {

	/** Describes the allowed timestamps, for messages. */
	public static final String ALLOWED = "a timestamp after 1970: ISO 8601 with a zone such as 2100-01-01T00:00:00Z,"
			+ " without one by the setting zone, or seconds since 1970, or milliseconds from 100000000000 on (for"
			+ " never, leave it out)";

	/** The result for a text that is not a timestamp. */
	public static final long NONE = Long.MIN_VALUE;

	/** Numbers from here on are milliseconds; smaller ones are seconds. */
	private static final long FIRST_MILLIS = 100_000_000_000L;

	/**
	 * The end of the year 9999. A larger number probably counts microseconds, and is
	 * refused.
	 */
	static final long LAST = 253_402_300_799_999L;

	/** The most characters of a number with an exponent or a sign. */
	private static final int MAX_NUMBER = 40;

	/** The length of {@code 2100-01-01}. */
	private static final int DATE_LENGTH = 10;

	/** The length of {@code 2100-01-01T00:00}. */
	private static final int MINUTE_LENGTH = 16;

	private static final int NO_PAIR = -1;

	private static final int NO_ZONE = Integer.MAX_VALUE;

	private static final byte[] UTC = { 'U', 'T', 'C' };

	private Timestamps() {
	}

	/**
	 * Reads a timestamp of an expiry.
	 * @return milliseconds since 1970, 1 or more, or {@code null} if the text is not such
	 * a timestamp
	 */
	public static @Nullable Long parse(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		long millis = expiry(bytes, 0, bytes.length, null);
		return (millis != NONE) ? Long.valueOf(millis) : null;
	}

	/**
	 * A timestamp without a zone as one of a zone.
	 * @return the text itself if it needs no zone, or is no timestamp
	 */
	public static String inZone(String text, ZoneId zone) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		long millis = millis(bytes, 0, bytes.length, zone);
		return (millis == NONE || millis(bytes, 0, bytes.length, null) != NONE) ? text
				: Instant.ofEpochMilli(millis).toString();
	}

	/**
	 * The timestamp of an expiry.
	 * @param zone the zone of timestamps without one; {@code null} if they are refused
	 * @return milliseconds since 1970, 1 or more; {@link #NONE} if the bytes are not such
	 * a timestamp
	 */
	static long expiry(byte[] source, int offset, int length, @Nullable ZoneId zone) {
		long millis = millis(source, offset, length, zone);
		return (millis >= 1) ? millis : NONE;
	}

	/**
	 * Reads a timestamp.
	 * @param zone the zone of timestamps without one; {@code null} if they are refused
	 * @return milliseconds since 1970, negative before; {@link #NONE} if the bytes are
	 * not a timestamp
	 */
	public static long millis(byte[] source, int offset, int length, @Nullable ZoneId zone) {
		int to = offset + length;
		int digits = Durations.skipDigits(source, offset, to);
		boolean date = digits == offset + 4 && digits < to && source[digits] == '-';
		long millis = (date) ? ofDate(source, offset, to, zone) : ofNumber(source, offset, digits, to);
		return (Math.abs(millis) <= LAST) ? millis : NONE;
	}

	private static long ofNumber(byte[] source, int from, int point, int to) {
		long number = Arguments.number(source, from, point - from);
		long fraction = (point == to) ? 0 : (source[point] == '.') ? fraction(source, point, to) : NONE;
		if (number < 0 || number > LAST || fraction < 0) {
			return ofDecimal(source, from, to - from);
		}
		if (isCompactDate(number, point - from)) {
			return NONE;
		}
		return (number >= FIRST_MILLIS) ? number : number * 1000 + fraction;
	}

	/**
	 * Whether the digits are rather a date such as 20261128, or one with a time such as
	 * 20261128100000, than a number of seconds or milliseconds.
	 */
	private static boolean isCompactDate(long number, int digits) {
		if (digits != 8 && digits != 12 && digits != 14) {
			return false;
		}
		long minutes = (digits == 14) ? number / 100 : (digits == 8) ? number * 10_000 : number;
		long year = minutes / 100_000_000;
		long month = minutes / 1_000_000 % 100;
		long day = minutes / 10_000 % 100;
		return year >= 1900 && year < 2200 && month >= 1 && month <= 12 && day >= 1 && day <= 31
				&& minutes / 100 % 100 < 24 && minutes % 100 < 60 && (digits != 14 || number % 100 < 60);
	}

	/** A number as programs write floats: {@code 4.1024448E9}, {@code -1.5}. */
	private static long ofDecimal(byte[] source, int from, int length) {
		BigDecimal number = decimal(source, from, length);
		if (number == null || number.precision() - number.scale() > MAX_NUMBER) {
			return NONE;
		}
		boolean millis = number.abs().compareTo(BigDecimal.valueOf(FIRST_MILLIS)) >= 0;
		BigDecimal timestamp = ((millis) ? number : number.movePointRight(3)).setScale(0, RoundingMode.FLOOR);
		return (timestamp.abs().compareTo(BigDecimal.valueOf(LAST)) <= 0) ? timestamp.longValueExact() : NONE;
	}

	/** A number of JSON of bounded length; {@code null} for anything else. */
	static @Nullable BigDecimal decimal(byte[] source, int from, int length) {
		String text = (length <= MAX_NUMBER) ? new String(source, from, length, StandardCharsets.ISO_8859_1) : "";
		return (text.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]{1,4})?")) ? new BigDecimal(text) : null;
	}

	private static long ofDate(byte[] source, int from, int to, @Nullable ZoneId zone) {
		if (to - from < DATE_LENGTH || source[from + 7] != '-') {
			return NONE;
		}
		int year = pair(source, from, to, 99) * 100 + pair(source, from + 2, to, 99);
		int month = pair(source, from + 5, to, 12);
		int day = (month < 1) ? NO_PAIR : pair(source, from + 8, to, Month.of(month).length(Year.isLeap(year)));
		if (day < 1) {
			return NONE;
		}
		LocalDateTime time = LocalDate.of(year, month, day).atStartOfDay();
		if (to - from == DATE_LENGTH) {
			return atZone(time, 0, zone);
		}
		boolean separated = (source[from + DATE_LENGTH] | 0x20) == 't' || source[from + DATE_LENGTH] == ' ';
		if (!separated || to - from < MINUTE_LENGTH || source[from + 13] != ':') {
			return NONE;
		}
		int hour = pair(source, from + 11, to, 23);
		int minute = pair(source, from + 14, to, 59);
		int at = from + MINUTE_LENGTH;
		int second = 0;
		long millis = 0;
		if (at < to && source[at] == ':') {
			second = pair(source, at + 1, to, 59);
			at += 3;
			if (second >= 0 && at < to && (source[at] == '.' || source[at] == ',')) {
				int end = Durations.skipDigits(source, at + 1, to);
				millis = fraction(source, at, end);
				at = end;
			}
		}
		if (hour < 0 || minute < 0 || second < 0 || millis < 0) {
			return NONE;
		}
		time = time.plusSeconds((hour * 60L + minute) * 60 + second);
		if (at >= to) {
			return (at == to) ? atZone(time, millis, zone) : NONE;
		}
		int offset = zone(source, (source[at] == ' ') ? at + 1 : at, to);
		return (offset != NO_ZONE) ? (time.toEpochSecond(ZoneOffset.UTC) - offset) * 1000 + millis : NONE;
	}

	/** A gap of summer time has no timestamp; of the two in an overlap, the earlier. */
	private static long atZone(LocalDateTime time, long millis, @Nullable ZoneId zone) {
		List<ZoneOffset> offsets = (zone != null) ? zone.getRules().getValidOffsets(time) : List.of();
		return (offsets.isEmpty()) ? NONE : time.toEpochSecond(offsets.get(0)) * 1000 + millis;
	}

	/**
	 * Reads {@code Z}, {@code UTC}, {@code +01}, {@code +0100} or {@code +01:00}, in
	 * seconds.
	 */
	private static int zone(byte[] source, int from, int to) {
		if (from == to || Arrays.equals(source, from, to, UTC, 0, UTC.length)) {
			return (from == to) ? NO_ZONE : 0;
		}
		int sign = (source[from] == '+') ? 1 : (source[from] == '-') ? -1 : 0;
		if (sign == 0) {
			return ((source[from] | 0x20) == 'z' && from + 1 == to) ? 0 : NO_ZONE;
		}
		int hours = pair(source, from + 1, to, 18);
		int at = (from + 3 < to && source[from + 3] == ':') ? from + 4 : from + 3;
		int minutes = (from + 3 == to) ? 0 : pair(source, at, to, 59);
		boolean whole = from + 3 == to || at + 2 == to;
		return (hours >= 0 && minutes >= 0 && whole) ? sign * (hours * 60 + minutes) * 60 : NO_ZONE;
	}

	/**
	 * Two digits; {@link #NO_PAIR} if they are not digits, or the number is too large.
	 */
	private static int pair(byte[] source, int from, int to, int most) {
		if (Durations.skipDigits(source, from, Math.min(from + 2, to)) != from + 2) {
			return NO_PAIR;
		}
		int pair = (source[from] - '0') * 10 + source[from + 1] - '0';
		return (pair <= most) ? pair : NO_PAIR;
	}

	/** The milliseconds after a decimal point. Digits of smaller units are ignored. */
	private static long fraction(byte[] source, int point, int to) {
		if (point + 1 == to || Durations.skipDigits(source, point + 1, to) != to) {
			return NONE;
		}
		long millis = 0;
		for (int i = 1; i <= 3; i++) {
			millis = millis * 10 + ((point + i < to) ? source[point + i] - '0' : 0);
		}
		return millis;
	}

}
