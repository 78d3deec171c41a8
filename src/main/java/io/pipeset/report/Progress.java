package io.pipeset.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * How far a job has come. An analysis counts its keys, a tuning its runs, and all others
 * their records.
 *
 * @param done how many of these have an outcome
 * @param total how many there will be; {@code null} where nobody knows
 * @param share the part of the job that is done, 0 to 1; {@code null} where neither the
 * total nor the size of the body is known
 * @param perSecond the pace of the last second
 * @param averagePerSecond the pace since the job was asked for
 * @param elapsedMillis the time since the job was asked for
 * @param leftMillis the time that the rest will take at the pace of the last ten seconds;
 * {@code null} where nobody knows
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Progress(long read, long done, @Nullable Long total, @Nullable Double share, long perSecond,
		long averagePerSecond, long elapsedMillis, @Nullable Long leftMillis) {

	/**
	 * A part of a whole.
	 * @param total the whole; of nothing, everything is done
	 * @return 0 to 1
	 */
	public static double share(long done, long total) {
		return (total > 0) ? Math.min(1, done / (double) total) : 1;
	}

	/**
	 * The numbers of one moment.
	 *
	 * @param counts the records by outcome, which add up to those read; {@code null} for
	 * a job without records
	 * @param done how many of these have an outcome
	 * @param total how many there will be; {@code null} where nobody knows
	 * @param share the part of the job that is done, 0 to 1; not a number where nobody
	 * knows
	 */
	public record Tally(@Nullable Counts counts, long read, long done, @Nullable Long total, double share) {

		/**
		 * The numbers of a job without records.
		 * @param total how many there will be; {@code null} where nobody knows
		 */
		public static Tally of(long done, @Nullable Long total) {
			return new Tally(null, done, done, total, (total != null) ? Progress.share(done, total) : Double.NaN);
		}

	}

}
