package io.pipeset.benchmark.measure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.pipeset.benchmark.data.Caller;
import io.pipeset.benchmark.process.AllocationProbe;
import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.ProcessStats;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Many callers at once, each with a connection of its own, who post as fast as they are
 * answered.
 *
 * @param server the server that answers
 * @param path the path and query that they post to
 * @param applied the number of applied records that each answer must report
 * @param callers the number of callers
 * @param seconds the duration of the load
 */
public record Load(JavaServer server, String path, long applied, int callers, double seconds) {

	private static final double WARM_UP_BY_ONE_SECONDS = 12;

	private static final double WARM_UP_BY_ALL_SECONDS = 6;

	/**
	 * Warms the server up with one caller and then with all: many leave its compiler no
	 * time, and few do not reach all hot code.
	 * @param redisPid the process of Redis
	 */
	public void warmUp(long redisPid) {
		new Load(this.server, this.path, this.applied, 1, WARM_UP_BY_ONE_SECONDS).run(redisPid);
		new Load(this.server, this.path, this.applied, this.callers, WARM_UP_BY_ALL_SECONDS).run(redisPid);
	}

	/**
	 * Starts the callers, and waits for their end.
	 * @param redisPid the process of Redis
	 * @return the result of all callers
	 */
	public Result run(long redisPid) {
		return run(redisPid, this.server.probe());
	}

	/**
	 * The same without counting allocated bytes: attaching the probe would delay a server
	 * that has just started, and let it compile meanwhile.
	 * @param redisPid the process of Redis
	 * @return the result of all callers
	 */
	public Result runFresh(long redisPid) {
		return run(redisPid, null);
	}

	private Result run(long redisPid, @Nullable AllocationProbe probe) {
		boolean unused = ProcessStats.resetPeakRss(this.server.pid());
		if (probe != null) {
			probe.begin();
		}
		double serviceBefore = ProcessStats.cpuSeconds(this.server.pid());
		double redisBefore = ProcessStats.cpuSeconds(redisPid);
		double clientBefore = ProcessStats.ownCpuSeconds();
		long start = System.nanoTime();
		Histogram micros = callAll(start + (long) (this.seconds * 1e9));
		double took = (System.nanoTime() - start) / 1e9;
		double requests = micros.getTotalCount();
		return new Result(requests / took, micros.getValueAtPercentile(50) / 1000.0,
				micros.getValueAtPercentile(99) / 1000.0,
				(ProcessStats.cpuSeconds(this.server.pid()) - serviceBefore) / requests * 1e6,
				(ProcessStats.cpuSeconds(redisPid) - redisBefore) / requests * 1e6,
				(ProcessStats.ownCpuSeconds() - clientBefore) / requests * 1e6,
				(probe != null) ? probe.allocated() / requests : Double.NaN,
				ProcessStats.peakRssMegabytes(this.server.pid()));
	}

	private Histogram callAll(long deadline) {
		ExecutorService threads = Executors.newFixedThreadPool(this.callers);
		try {
			List<Future<Histogram>> all = new ArrayList<>();
			for (int i = 0; i < this.callers; i++) {
				all.add(threads.submit(() -> call(deadline)));
			}
			Histogram micros = histogram();
			for (Future<Histogram> one : all) {
				micros.add(one.get());
			}
			return micros;
		}
		catch (ExecutionException ex) {
			throw new BenchmarkException("A caller failed", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BenchmarkException("Interrupted", ex);
		}
		finally {
			threads.shutdownNow();
		}
	}

	private Histogram call(long deadline) throws IOException {
		Histogram micros = histogram();
		try (HttpConnection connection = new HttpConnection(this.server.uri(this.path))) {
			for (long now = System.nanoTime(); now < deadline;) {
				long applied = Caller.applied(connection.post());
				if (applied != this.applied) {
					throw new BenchmarkException(applied + " commands ran instead of " + this.applied);
				}
				long end = System.nanoTime();
				micros.recordValue(TimeUnit.NANOSECONDS.toMicros(end - now));
				now = end;
			}
		}
		return micros;
	}

	private static Histogram histogram() {
		return new Histogram(3);
	}

	/**
	 * The result of all callers.
	 *
	 * @param rate requests a second
	 * @param p50 the median, in milliseconds
	 * @param p99 the time that one request in a hundred exceeded, in milliseconds
	 * @param serviceCpu CPU microseconds of the service a request
	 * @param redisCpu of Redis
	 * @param clientCpu of the callers
	 * @param allocated bytes that the service allocated for a request; NaN if not counted
	 * @param peakRss the service's peak memory in megabytes
	 */
	public record Result(double rate, double p50, double p99, double serviceCpu, double redisCpu, double clientCpu,
			double allocated, double peakRss) {

	}

}
