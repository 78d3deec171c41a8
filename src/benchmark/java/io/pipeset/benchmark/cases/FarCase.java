package io.pipeset.benchmark.cases;

import java.util.List;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.process.Address;
import io.pipeset.benchmark.process.DelayProxy;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.RedisServer;
import io.pipeset.benchmark.report.Figures;
import io.pipeset.benchmark.report.Table;
import redis.clients.jedis.Jedis;

/** A Redis 5 and 50 milliseconds away, for the service and its rivals alike. */
public final class FarCase implements BenchmarkCase {

	/** The figure of commands sent one by one. */
	public static final String ONE_BY_ONE = "far/50/one-by-one/seconds";

	private static final int SAMPLE = 200;

	/** The first distance, in milliseconds: by its end the service is warm. */
	private static final int NEAR = 5;

	@Override
	public void run(Bench bench) {
		long records = SetCase.RECORDS;
		try (DelayProxy proxy = DelayProxy.open(bench.redis().address().port());
				Dataset data = bench.dataset("far", new Shape.Set(13), records)) {
			Address address = bench.redis().address().through(proxy.port());
			try (JavaServer far = bench.start("pipeset-far", bench.jvm(), address)) {
				for (int millis : new int[] { NEAR, 50 }) {
					proxy.roundTrip(millis);
					bench.raceEmpty("far/" + millis, "1M SETs into an empty database, " + millis + " ms away", records,
							bench.uploads(data, address, far, Form.NDJSON), (millis == NEAR) ? 3 : 1);
				}
				oneByOne(bench, data.shape(), address);
			}
		}
	}

	private static void oneByOne(Bench bench, Shape shape, Address address) {
		bench.console().progress("one by one, 50 ms away: " + SAMPLE + " commands");
		double seconds;
		try (Jedis jedis = RedisServer.connect(address)) {
			long start = System.nanoTime();
			for (int i = 0; i < SAMPLE; i++) {
				List<String> command = shape.command(i);
				jedis.set(command.get(1), command.get(2));
			}
			seconds = (System.nanoTime() - start) / 1e9 * SetCase.RECORDS / SAMPLE;
		}
		bench.figures().put(ONE_BY_ONE, seconds);
		double ours = bench.figures().get("far/50/ndjson-auto/seconds");
		Table table = new Table("1M SETs one by one, 50 ms away", "", "s", "Pipeset is faster by");
		table.add("Jedis, extrapolated from " + SAMPLE + " commands", Figures.number(seconds, 0),
				Figures.number(seconds / ours, 0) + "x");
		bench.figures().add(table);
	}

}
