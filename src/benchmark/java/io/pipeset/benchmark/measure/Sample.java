package io.pipeset.benchmark.measure;

/**
 * The costs of one run; NaN for a cost that is not known.
 *
 * @param seconds on the clock
 * @param serviceCpu CPU seconds of the service's JVM
 * @param redisCpu CPU seconds of Redis
 * @param clientCpu CPU seconds of the client, the proxy included
 * @param allocated bytes that the service's JVM allocated
 * @param pauses the number of times that its collector stopped it
 * @param longestPause the longest of these, in milliseconds
 * @param peakRss its peak memory in megabytes
 */
public record Sample(double seconds, double serviceCpu, double redisCpu, double clientCpu, double allocated,
		double pauses, double longestPause, double peakRss) {

}
