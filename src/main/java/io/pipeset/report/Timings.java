package io.pipeset.report;

/**
 * How long a job and its phases took, in milliseconds.
 *
 * @param totalMillis from the request's first record to the last reply
 * @param redisMillis the time in which at least one batch was under way
 */
public record Timings(double totalMillis, double waitMillis, double readMillis, double redisMillis, Batches batches) {

	/**
	 * The times of a job's batches, each from its first write to its last reply.
	 *
	 * @param p50Millis the median
	 * @param p99Millis the 99th percentile
	 */
	public record Batches(long count, double p50Millis, double p99Millis, double maxMillis) {

	}

}
