package io.pipeset.tuning;

import org.jspecify.annotations.Nullable;

/**
 * The figures of one measured run.
 *
 * @param seconds its time, from its first record to its last reply
 * @param batchP99Millis the 99th percentile of its batches' times
 * @param writes the writes to sockets
 * @param redisCpuSeconds the processor time that Redis took meanwhile, all masters
 * together and for all its clients; {@code null} if Redis does not tell it
 */
record Run(double seconds, double batchP99Millis, long writes, @Nullable Double redisCpuSeconds) {

}
