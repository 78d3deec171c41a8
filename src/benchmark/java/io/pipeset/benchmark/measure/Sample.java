package io.pipeset.benchmark.measure;

/**
 * What one run took; NaN where there is nothing to say.
 *
 * @param seconds on the clock
 * @param serviceCpu CPU seconds of the service's JVM
 * @param redisCpu CPU seconds of Redis
 * @param clientCpu CPU seconds of the client, the proxy included
 * @param allocated bytes that the service's JVM allocated
 * @param pauses how often its collector stopped it
 * @param longestPause the longest of these, in milliseconds
 * @param peakRss its peak memory in megabytes
 */
public record Sample(double seconds, double serviceCpu, double redisCpu, double clientCpu, double allocated,
		double pauses, double longestPause, double peakRss) {

}
