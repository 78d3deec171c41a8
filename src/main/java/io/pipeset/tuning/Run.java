package io.pipeset.tuning;

import org.jspecify.annotations.Nullable;

/**
 * The measurements of one run.
 *
 * @param seconds the time from the first record to the last reply
 * @param batchP99Millis the 99th percentile of its batches' times
 * @param writes the writes to sockets
 * @param redisCpuSeconds the CPU time of all masters during the run, for all their
 * clients; {@code null} if Redis does not report it
 */
record Run(double seconds, double batchP99Millis, long writes, @Nullable Double redisCpuSeconds) {

}
