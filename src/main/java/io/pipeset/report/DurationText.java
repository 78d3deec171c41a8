package io.pipeset.report;

import java.time.Duration;

/** Durations as reports and messages write them. */
public final class DurationText {

	private DurationText() {
	}

	/**
	 * Writes a duration as settings take it.
	 * @param duration whole milliseconds
	 * @return seconds where it is a whole number of them, such as {@code 10s}, or else
	 * milliseconds, such as {@code 1500ms}
	 */
	public static String of(Duration duration) {
		long millis = duration.toMillis();
		return (millis % 1000 == 0) ? millis / 1000 + "s" : millis + "ms";
	}

}
