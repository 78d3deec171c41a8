package io.pipeset.web;

import java.time.Duration;
import java.util.Locale;

import io.pipeset.report.Counts;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobStatus;
import io.pipeset.report.Progress;
import org.jspecify.annotations.Nullable;

/** The status of a job as a line for a terminal, which the next line overwrites. */
final class ProgressLine {

	/** Moves the cursor to the beginning of the line. */
	private static final String BACK = "\r";

	/** Clears the rest of the previous line, if that was longer. */
	private static final String CLEAR = "\u001b[K";

	private ProgressLine() {
	}

	static String of(JobStatus status) {
		boolean ended = !status.state().isActive();
		return BACK + ((ended) ? ended(status) : active(status)) + CLEAR + ((ended) ? "\n" : "");
	}

	private static String active(JobStatus status) {
		Progress progress = status.progress();
		StringBuilder line = new StringBuilder(status.state().label());
		if (progress.share() != null) {
			line.append(String.format(Locale.ROOT, "  %5.1f %%", 100 * progress.share()));
		}
		line.append("  ").append(number(progress.done()));
		if (progress.total() != null) {
			line.append(" of ").append(number(progress.total()));
		}
		line.append(' ').append(unit(status.kind())).append("  ").append(number(progress.perSecond())).append("/s");
		if (progress.leftMillis() != null) {
			line.append("  ").append(time(progress.leftMillis())).append(" left");
		}
		return line.append(failures(status.counts(), false)).toString();
	}

	private static String ended(JobStatus status) {
		Progress progress = status.progress();
		String line = status.state().label() + "  " + number(progress.done()) + " " + unit(status.kind()) + " in "
				+ time(progress.elapsedMillis()) + "  " + number(progress.averagePerSecond()) + "/s"
				+ failures(status.counts(), true);
		return (status.ending() != null)
				? line + "  " + status.ending().type() + ": " + status.ending().detail().replaceAll("\\p{Cntrl}", " ")
				: line;
	}

	/** The failures. Unknown and unprocessed records are known only when the job ends. */
	private static String failures(@Nullable Counts counts, boolean ended) {
		if (counts == null) {
			return "";
		}
		return failure(counts.rejected(), "rejected")
				+ ((ended) ? failure(counts.unknown(), "unknown") + failure(counts.unprocessed(), "unprocessed") : "");
	}

	private static String failure(long records, String outcome) {
		return (records > 0) ? "  " + number(records) + " " + outcome : "";
	}

	private static String unit(JobKind kind) {
		return switch (kind) {
			case RECORDS -> "records";
			case ANALYSIS -> "keys";
			case TUNING -> "runs";
		};
	}

	private static String number(long number) {
		return String.format(Locale.ROOT, "%,d", number);
	}

	private static String time(long millis) {
		Duration time = Duration.ofMillis(millis);
		return (millis < 60_000) ? String.format(Locale.ROOT, "%.1f s", millis / 1000.0) : String.format(Locale.ROOT,
				"%d:%02d:%02d", time.toHours(), time.toMinutesPart(), time.toSecondsPart());
	}

}
