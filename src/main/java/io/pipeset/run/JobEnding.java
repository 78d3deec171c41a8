package io.pipeset.run;

import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/** Chooses the reason that a report names if a job has several reasons to end. */
final class JobEnding {

	private JobEnding() {
	}

	/**
	 * Chooses the reason to report. A defect of the service comes first, then a fault of
	 * Redis, because it may have caused the other reasons.
	 * @param stop why the job was stopped; {@code null} if it was not
	 * @param input how the input ended
	 * @param unknown the number of unknown records
	 * @param unconfirmed how many of these ran, but were not confirmed by enough replicas
	 * @param written whether anything was written to Redis
	 * @param settled whether all records were read and none is unknown or unprocessed
	 */
	static Ending of(@Nullable Ending stop, Ending input, long unknown, long unconfirmed, boolean written,
			boolean settled) {
		if (stop != null && stop.cause() == Cause.INTERNAL_SERVER_ERROR) {
			return stop;
		}
		if (stop != null && stop.cause() == Cause.SHUTTING_DOWN && settled) {
			return input;
		}
		if (stop != null && (stop.cause() == Cause.REDIS_LOST || stop.cause() == Cause.REDIS_UNREACHABLE)) {
			return new Ending((written) ? Cause.REDIS_LOST : Cause.REDIS_UNREACHABLE,
					(stop.detail() + unconfirmed(unconfirmed)).strip());
		}
		Ending other = (stop != null) ? stop : input;
		if (unknown == 0) {
			return other;
		}
		String continued = (stop != null) ? "" : " The job went on with the others.";
		return new Ending(Cause.REDIS_LOST,
				(lost(unknown - unconfirmed) + unconfirmed(unconfirmed) + continued + " " + other.detail()).strip());
	}

	/**
	 * Whether a job is interrupted, because the service shuts down before all records
	 * have their outcome. The next process can resume it. A job cannot be resumed after a
	 * cancellation, the end of its input or a refusal of Redis.
	 * @param stop why the job was stopped; {@code null} if it was not
	 * @param closing whether the service accepts no more jobs
	 * @param settled whether all records were read and none is unknown or unprocessed
	 */
	static boolean isInterrupted(@Nullable Ending stop, boolean closing, boolean settled) {
		return stop != null && closing && !settled && switch (stop.cause()) {
			case SHUTTING_DOWN, REDIS_LOST, REDIS_UNREACHABLE, CONTROL_UNREACHABLE -> true;
			default -> false;
		};
	}

	private static String lost(long records) {
		return (records == 0) ? ""
				: records + " records were in flight when the connection to Redis was lost, or the service ended,"
						+ " and have no certain outcome: they may have run.";
	}

	private static String unconfirmed(long records) {
		return (records == 0) ? "" : " " + records + " records ran, but fewer replicas than the job asks for have"
				+ " confirmed them: a failover may lose them.";
	}

}
