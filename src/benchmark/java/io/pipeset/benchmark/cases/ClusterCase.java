package io.pipeset.benchmark.cases;

import java.util.ArrayList;
import java.util.List;

import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.measure.Meter;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.Launch;
import io.pipeset.benchmark.process.RedisCluster;
import redis.clients.jedis.ClusterPipeline;
import redis.clients.jedis.RedisClusterClient;

/**
 * 1M SETs to three masters and to a single server, by the service, and to three masters
 * by everybody else. The masters, the single server and the clients share this machine.
 */
public final class ClusterCase implements BenchmarkCase {

	private static final long RECORDS = SetCase.RECORDS;

	private static final int BATCH = 10_000;

	private static final int WARM_UPS = 3;

	@Override
	public void run(Bench bench) {
		try (RedisCluster cluster = RedisCluster.start();
				JavaServer pipeset = bench.startWarm(new Launch("pipeset-cluster", bench.jvm(),
						List.of("-jar", bench.jar().toString()), cluster.toSpring()));
				JavaServer rivals = new RivalServers(bench).cluster(cluster)) {
			List<Long> pids = new ArrayList<>(cluster.pids());
			pids.add(bench.redis().pid());
			Meter meter = new Meter(pids);
			List<Contender> contenders = contenders(bench, cluster, pipeset, rivals);
			race(bench, meter, "empty", WARM_UPS, contenders, () -> {
				bench.redis().flush();
				cluster.flush();
			}, () -> require(bench.redis().size() + cluster.size(), RECORDS));
			bench.caller().post(List.of(bench.pipeset().uri("/pipeset/" + RECORDS)));
			bench.caller().post(List.of(pipeset.uri("/pipeset/" + RECORDS)));
			race(bench, meter, "overwriting", 1, contenders, () -> {
			}, () -> require(bench.redis().size() + cluster.size(), 2 * RECORDS));
		}
		bench.redis().flush();
	}

	private static List<Contender> contenders(Bench bench, RedisCluster cluster, JavaServer pipeset,
			JavaServer rivals) {
		List<Contender> contenders = new ArrayList<>();
		contenders.addAll(bench.bothWays("one", "one server", bench.pipeset(),
				(query) -> bench.caller().post(List.of(bench.pipeset().uri("/pipeset/" + RECORDS + "?" + query)))));
		contenders.addAll(bench.bothWays("three", "three masters", pipeset,
				(query) -> bench.caller().post(List.of(pipeset.uri("/pipeset/" + RECORDS + "?" + query)))));
		// Its code is in this process, and is compiled by now.
		for (int i = 0; i < WARM_UPS; i++) {
			jedis(cluster);
		}
		contenders.add(new Contender("jedis", "Jedis, ClusterPipeline, 10,000 a sync", null, () -> jedis(cluster)));
		contenders.add(new Contender("async", "Lettuce, cluster async, 10,000 at a time", rivals,
				() -> bench.caller().post(List.of(rivals.uri("/async/" + RECORDS)))));
		contenders.add(new Contender("template", "executePipelined on the cluster's factory", rivals,
				() -> bench.caller().post(List.of(rivals.uri("/template/" + RECORDS)))));
		return contenders;
	}

	private static void race(Bench bench, Meter meter, String id, int warmUps, List<Contender> contenders,
			Runnable before, Runnable check) {
		Race race = new Race("cluster/" + id,
				"1M SETs, one server and three masters of a cluster, "
						+ ((id.equals("empty")) ? "into empty databases" : "over the same keys"),
				RECORDS, before, check, contenders);
		bench.run(race, meter, warmUps);
	}

	private static void require(long keys, long expected) {
		if (keys != expected) {
			throw new BenchmarkException("The servers have " + keys + " keys instead of " + expected);
		}
	}

	private static long jedis(RedisCluster cluster) {
		Shape shape = new Shape.GeneratedSet();
		try (RedisClusterClient client = cluster.connect(); ClusterPipeline pipeline = client.pipelined()) {
			for (long i = 0; i < RECORDS; i++) {
				List<String> command = shape.command(i);
				pipeline.set(command.get(1), command.get(2));
				if ((i + 1) % BATCH == 0) {
					pipeline.sync();
				}
			}
			pipeline.sync();
		}
		return RECORDS;
	}

}
