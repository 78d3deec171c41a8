package io.pipeset.benchmark.cases;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.RedisServer;
import io.pipeset.benchmark.report.Chart;
import io.pipeset.benchmark.report.Figures;
import io.pipeset.benchmark.report.Table;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/** What another client of Redis sees while a job runs, with and without a limit. */
public final class LatencyCase implements BenchmarkCase {

	/** The other client sends as many pipelines a second, of as many GETs. */
	private static final int PIPELINES_PER_SECOND = 1000;

	private static final int GETS = 20;

	/** More than the job can send in its time. */
	private static final String RECORDS = "/pipeset/10000000?ttl=600";

	/** The time in which the pace finds its level. */
	private static final double WARM_UP_SECONDS = 5;

	private static final double SECONDS = 5;

	private static final Pattern JOB_ID = Pattern.compile("\"jobId\":\\s*\"([^\"]+)\"");

	private final HttpClient client = HttpClient.newHttpClient();

	private final Map<String, List<Measured>> measured = new LinkedHashMap<>();

	@Override
	public void run(Bench bench) {
		JavaServer service = bench.pipeset();
		Map<String, String> jobs = new LinkedHashMap<>();
		jobs.put("the other client alone", "");
		jobs.put("and a job", RECORDS);
		for (String limit : List.of("5ms", "2ms", "1ms")) {
			jobs.put("and a job with maxLatency=" + limit, RECORDS + "&maxLatency=" + limit);
		}
		for (int run = 0; run < bench.runs(); run++) {
			jobs.forEach((name, job) -> {
				Measured now = (job.isEmpty()) ? measure(bench.redis()) : measure(bench.redis(), service, job);
				bench.redis().flush();
				this.measured.computeIfAbsent(name, (unused) -> new ArrayList<>()).add(now);
				bench.console().progress(name + ": " + now);
			});
		}
		Table table = new Table(
				"What another client sees: " + PIPELINES_PER_SECOND + " pipelines of " + GETS
						+ " GETs a second, near Redis, median of " + bench.runs() + " runs",
				"", "p50 µs", "p99 µs", "p99, times alone", "records/s of the job");
		double alone = median("the other client alone", Measured::p99Micros);
		jobs.keySet()
			.forEach((name) -> table.add(name, Figures.number(median(name, Measured::p50Micros), 0),
					Figures.number(median(name, Measured::p99Micros), 0),
					Figures.number(median(name, Measured::p99Micros) / alone, 2),
					Figures.number(median(name, Measured::recordsPerSecond), 0)));
		bench.figures().add(table);
	}

	/**
	 * The other client's p99 as a chart.
	 * @return the chart, once the case has run
	 */
	public Chart chart() {
		List<Chart.Bar> bars = this.measured.keySet()
			.stream()
			.map((name) -> new Chart.Bar(name.replace("and a job", "with a job"),
					median(name, Measured::p99Micros) / 1000, name.contains("maxLatency")))
			.toList();
		return new Chart("p99 of another client while a job runs (shorter is better)",
				PIPELINES_PER_SECOND + " pipelines of " + GETS + " GETs a second, on the same machine as Redis and the"
						+ " service, " + Runtime.getRuntime().availableProcessors() + " cores",
				"ms", bars);
	}

	private double median(String name, ToDoubleFunction<Measured> figure) {
		double[] sorted = this.measured.get(name).stream().mapToDouble(figure).sorted().toArray();
		return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
	}

	private Measured measure(RedisServer redis, JavaServer service, String job) {
		Thread caller = new Thread(() -> send(HttpRequest.newBuilder(service.uri(job)).POST(BodyPublishers.noBody())));
		caller.start();
		try {
			LockSupport.parkNanos((long) (WARM_UP_SECONDS * 1e9));
			Measured measured = measure(redis);
			Matcher id = JOB_ID.matcher(send(HttpRequest.newBuilder(service.uri("/v1/jobs?state=running"))));
			if (!id.find()) {
				throw new BenchmarkException("The job has ended too early");
			}
			URI running = service.uri("/v1/jobs/" + id.group(1));
			send(HttpRequest.newBuilder(running).DELETE());
			caller.join();
			return measured;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BenchmarkException("Interrupted", ex);
		}
	}

	private String send(HttpRequest.Builder request) {
		try {
			return this.client.send(request.build(), BodyHandlers.ofString()).body();
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot send " + request.build(), ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BenchmarkException("Interrupted", ex);
		}
	}

	/** Sends pipelines at a fixed pace, and measures each from its first byte. */
	private static Measured measure(RedisServer redis) {
		long[] nanos = new long[(int) (SECONDS * PIPELINES_PER_SECOND)];
		try (Jedis jedis = RedisServer.connect(redis.address())) {
			long keys = jedis.dbSize();
			long begun = System.nanoTime();
			for (int i = 0; i < nanos.length; i++) {
				long due = begun + i * TimeUnit.SECONDS.toNanos(1) / PIPELINES_PER_SECOND;
				for (long early; (early = due - System.nanoTime()) > 0;) {
					LockSupport.parkNanos(early);
				}
				Pipeline pipeline = jedis.pipelined();
				for (int get = 0; get < GETS; get++) {
					pipeline.get("another-key");
				}
				long sent = System.nanoTime();
				pipeline.sync();
				nanos[i] = System.nanoTime() - sent;
			}
			double seconds = (System.nanoTime() - begun) / 1e9;
			double rate = (jedis.dbSize() - keys) / seconds;
			Arrays.sort(nanos);
			return new Measured(nanos[nanos.length / 2] / 1000, nanos[nanos.length * 99 / 100] / 1000, rate);
		}
	}

	/**
	 * A run.
	 *
	 * @param recordsPerSecond the new keys of the job
	 */
	private record Measured(long p50Micros, long p99Micros, double recordsPerSecond) {

	}

}
