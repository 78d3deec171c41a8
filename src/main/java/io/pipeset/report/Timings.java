package io.pipeset.report;

/**
 * How long a job and its phases took, in milliseconds.
 *
 * @param totalMillis the time from the start of the job to its end
 * @param waitMillis the time spent waiting for connections, all threads together
 * @param readMillis the time spent reading and parsing
 * @param redisMillis the time in which at least one batch was in flight
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
