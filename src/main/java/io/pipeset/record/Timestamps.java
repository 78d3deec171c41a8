package io.pipeset.record;

import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.Month;
import java.time.Year;

import org.jspecify.annotations.Nullable;

/**
 * Reads moments: ISO 8601 with a zone, or seconds or milliseconds since 1970. It reads
 * bytes, because a job may have millions of records with a moment.
 */
public final class Timestamps {

	/** Describes the allowed moments, for messages. */
	public static final String ALLOWED = "a moment after 1970: ISO 8601 with a zone such as 2100-01-01T00:00:00Z,"
			+ " or seconds since 1970, or milliseconds from 100000000000 on (for never, leave it out)";

	/** The result for a text that is not a moment. */
	static final long NONE = -1;

	/** Numbers from here on are milliseconds; smaller ones are seconds. */
	private static final long FIRST_MILLIS = 100_000_000_000L;

	/**
	 * The end of the year 9999. A larger number probably counts microseconds, and is
	 * refused.
	 */
	private static final long LAST = 253_402_300_799_999L;

	/**
	 * The length of {@code 2100-01-01T00:00}. Everything after it is optional, except the
	 * zone.
	 */
	private static final int MINUTE_LENGTH = 16;

	private static final int NO_PAIR = -1;

	private static final int NO_ZONE = Integer.MAX_VALUE;

	private Timestamps() {
	}

	/**
	 * Reads a moment.
	 * @return milliseconds since 1970, 1 or more, or {@code null} if the text is not a
	 * moment
	 */
	public static @Nullable Long parse(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		long millis = millis(bytes, 0, bytes.length);
		return (millis != NONE) ? Long.valueOf(millis) : null;
	}

	/** Whether bytes are a moment. */
	public static boolean isMoment(byte[] source, int offset, int length) {
		return millis(source, offset, length) != NONE;
	}

	/**
	 * A moment in milliseconds since 1970, 1 or more; {@link #NONE} if the bytes are not
	 * one.
	 */
	static long millis(byte[] source, int offset, int length) {
		int to = offset + length;
		int digits = Durations.skipDigits(source, offset, to);
		boolean date = digits == offset + 4 && digits < to && source[digits] == '-';
		long millis = (date) ? ofDate(source, offset, to) : ofNumber(source, offset, digits, to);
		return (millis >= 1 && millis <= LAST) ? millis : NONE;
	}

	private static long ofNumber(byte[] source, int from, int point, int to) {
		long number = Arguments.number(source, from, point - from);
		long fraction = (point == to) ? 0 : (source[point] == '.') ? fraction(source, point, to) : NONE;
		if (number < 0 || number > LAST || fraction < 0) {
			return NONE;
		}
		return (number >= FIRST_MILLIS) ? number : number * 1000 + fraction;
	}

	private static long ofDate(byte[] source, int from, int to) {
		if (to - from <= MINUTE_LENGTH || source[from + 7] != '-' || source[from + 13] != ':'
				|| ((source[from + 10] | 0x20) != 't' && source[from + 10] != ' ')) {
			return NONE;
		}
		int year = pair(source, from, to, 99) * 100 + pair(source, from + 2, to, 99);
		int month = pair(source, from + 5, to, 12);
		int day = (month < 1) ? NO_PAIR : pair(source, from + 8, to, Month.of(month).length(Year.isLeap(year)));
		int hour = pair(source, from + 11, to, 23);
		int minute = pair(source, from + 14, to, 59);
		int at = from + MINUTE_LENGTH;
		int second = 0;
		long millis = 0;
		if (source[at] == ':') {
			second = pair(source, at + 1, to, 59);
			at += 3;
			if (second >= 0 && at < to && (source[at] == '.' || source[at] == ',')) {
				int end = Durations.skipDigits(source, at + 1, to);
				millis = fraction(source, at, end);
				at = end;
			}
		}
		if (day < 1 || hour < 0 || minute < 0 || second < 0 || millis < 0 || at >= to) {
			return NONE;
		}
		int zone = zone(source, at, to);
		long seconds = (LocalDate.of(year, month, day).toEpochDay() * 24 + hour) * 3600 + minute * 60L + second;
		return (zone != NO_ZONE) ? (seconds - zone) * 1000 + millis : NONE;
	}

	/** Reads {@code Z}, {@code +01}, {@code +0100} or {@code +01:00}, in seconds. */
	private static int zone(byte[] source, int from, int to) {
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
