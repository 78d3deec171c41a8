package io.pipeset.benchmark.cases;

import java.util.ArrayList;
import java.util.List;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.process.Address;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.RedisServer;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

/** 1M SETs by every means that users have today. Each means makes its own commands. */
public final class RivalsCase implements BenchmarkCase {

	/** The part of its figures' names. */
	public static final String KEY = "rivals";

	private static final int BATCH = 10_000;

	private static final List<String> POLICIES = List.of("each", "buffered", "close");

	private static final int WARM_UPS = 5;

	private static final int WARM_UP_RECORDS = 100_000;

	@Override
	public void run(Bench bench) {
		RivalServers servers = new RivalServers(bench);
		long records = SetCase.RECORDS;
		Shape shape = new Shape.GeneratedSet();
		try (Dataset data = bench.dataset("set-generated", shape, records);
				JavaServer stock = servers.stock();
				JavaServer firstTry = servers.firstTry()) {
			List<Contender> contenders = new ArrayList<>();
			contenders.add(bench.redisCli(data, bench.redis().address()));
			contenders.addAll(bench.generated(records, bench.pipeset()));
			contenders.add(new Contender("jedis", "Jedis pipeline, 10,000 a sync", null,
					() -> jedis(bench.redis().address(), shape, records)));
			contenders.add(new PythonRival("sets.py", "redis").contender("redis-py pipeline, 10,000 an execute",
					String.valueOf(records), bench.redis().address()));
			for (String policy : POLICIES) {
				contenders.add(new Contender("stock-" + policy, "executePipelined, pooled, flush " + policy, stock,
						() -> bench.caller().post(List.of(stock.uri("/pipeset/" + records + "?flush=" + policy)))));
			}
			contenders.add(new Contender("first-try", "first try, Boot's defaults", firstTry,
					() -> bench.caller().post(List.of(firstTry.uri("/pipeset/" + records)))));
			for (int i = 0; i < WARM_UPS; i++) {
				bench.caller().post(List.of(firstTry.uri("/pipeset/" + WARM_UP_RECORDS)));
				for (String policy : POLICIES) {
					bench.caller().post(List.of(stock.uri("/pipeset/" + WARM_UP_RECORDS + "?flush=" + policy)));
				}
			}
			bench.raceEmpty(KEY, "1M SETs into an empty database, all clients", records, contenders, 0);
		}
	}

	private static long jedis(Address address, Shape shape, long records) {
		try (Jedis jedis = RedisServer.connect(address)) {
			Pipeline pipeline = jedis.pipelined();
			for (long i = 0; i < records; i++) {
				List<String> command = shape.command(i);
				pipeline.set(command.get(1), command.get(2));
				if ((i + 1) % BATCH == 0) {
					pipeline.sync();
				}
			}
			pipeline.sync();
		}
		return records;
	}

}
