package io.pipeset.report;

import java.time.Duration;

/** Formats durations for reports and messages. */
public final class DurationText {

	private DurationText() {
	}

	/**
	 * Formats a duration so that it is a valid setting.
	 * @param duration whole milliseconds
	 * @return whole seconds such as {@code 10s}, otherwise milliseconds such as
	 * {@code 1500ms}
	 */
	public static String of(Duration duration) {
		long millis = duration.toMillis();
		return (millis % 1000 == 0) ? millis / 1000 + "s" : millis + "ms";
	}

}
