package io.pipeset.benchmark.measure;

import java.util.List;

import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.GcLog.Backoff;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.ProcessStats;

/** Measures the time of a run, and the costs of every process in it. */
public final class Meter {

	private final List<Long> redisPids;

	/**
	 * Makes a meter.
	 * @param redisPids the processes of Redis, whose CPU time is added up
	 */
	public Meter(List<Long> redisPids) {
		this.redisPids = List.copyOf(redisPids);
	}

	/**
	 * Runs a contender once.
	 * @param contender the contender
	 * @param expected the commands that have to run
	 * @return the sample of this run
	 * @throws BenchmarkException if another number of commands ran
	 */
	public Sample measure(Contender contender, long expected) {
		JavaServer service = contender.service();
		double redisBefore = redisCpuSeconds();
		double clientBefore = ProcessStats.ownCpuSeconds();
		if (service == null) {
			double seconds = time(contender, expected);
			return new Sample(seconds, Double.NaN, redisCpuSeconds() - redisBefore,
					ProcessStats.ownCpuSeconds() - clientBefore, Double.NaN, Double.NaN, Double.NaN, Double.NaN);
		}
		boolean unused = ProcessStats.resetPeakRss(service.pid());
		long log = service.gcLog().end();
		service.probe().begin();
		clientBefore = ProcessStats.ownCpuSeconds();
		double serviceBefore = ProcessStats.cpuSeconds(service.pid());
		double seconds = time(contender, expected);
		double serviceCpu = ProcessStats.cpuSeconds(service.pid()) - serviceBefore;
		double redisCpu = redisCpuSeconds() - redisBefore;
		double clientCpu = ProcessStats.ownCpuSeconds() - clientBefore;
		long allocated = service.probe().allocated();
		Backoff pauses = service.gcLog().since(log);
		return new Sample(seconds, serviceCpu, redisCpu, clientCpu, allocated, pauses.count(), pauses.longestMillis(),
				ProcessStats.peakRssMegabytes(service.pid()));
	}

	private double redisCpuSeconds() {
		return this.redisPids.stream().mapToDouble(ProcessStats::cpuSeconds).sum();
	}

	private static double time(Contender contender, long expected) {
		long start = System.nanoTime();
		long applied = contender.attempt().run();
		double seconds = (System.nanoTime() - start) / 1e9;
		if (applied != expected) {
			throw new BenchmarkException(contender.name() + " ran " + applied + " commands instead of " + expected);
		}
		return seconds;
	}

}
