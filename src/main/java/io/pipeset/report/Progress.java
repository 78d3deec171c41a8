package io.pipeset.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a job. An analysis counts keys, a tuning counts runs, and all other
 * jobs count records, and the keys that {@code replace} removes.
 *
 * @param read how many were read
 * @param done how many have an outcome
 * @param total how many there will be; {@code null} if that is not known
 * @param share the part of the job that is done, 0 to 1; {@code null} if neither the
 * total nor the size of the body is known
 * @param perSecond the rate of the last second
 * @param averagePerSecond the rate since the job was requested, or resumed
 * @param elapsedMillis the time since the job was requested, or resumed
 * @param leftMillis the estimated time to the end, at the rate of the last ten seconds;
 * {@code null} if it is not known
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Progress(long read, long done, @Nullable Long total, @Nullable Double share, long perSecond,
		long averagePerSecond, long elapsedMillis, @Nullable Long leftMillis) {

	/**
	 * Divides a part by the whole.
	 * @param done the part
	 * @param total the whole; if it is 0, everything is done
	 * @return 0 to 1
	 */
	public static double share(long done, long total) {
		return (total > 0) ? Math.min(1, done / (double) total) : 1;
	}

	/**
	 * A snapshot of the numbers.
	 *
	 * @param counts the records by outcome, which add up to those read; {@code null} for
	 * a job without records
	 * @param read how many were read
	 * @param done how many have an outcome
	 * @param total how many there will be; {@code null} if that is not known
	 * @param share the part of the job that is done, 0 to 1; NaN if it is not known
	 */
	public record Tally(@Nullable Counts counts, long read, long done, @Nullable Long total, double share) {

		/**
		 * Creates the numbers of a job without records.
		 * @param total how many there will be; {@code null} if that is not known
		 */
		public static Tally of(long done, @Nullable Long total) {
			return new Tally(null, done, done, total, (total != null) ? Progress.share(done, total) : Double.NaN);
		}

	}

}
