package io.pipeset.benchmark.cases;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.process.Address;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.Program;
import io.pipeset.benchmark.process.RedisServer;
import redis.clients.jedis.Jedis;

/** 1M keys of a pattern removed from 1.3M, against redis-cli's way to do it. */
public final class SweepCase implements BenchmarkCase {

	private static final int KEYS = 1_000_000;

	/**
	 * Keys that stay. With fewer, Redis shrinks its table meanwhile and reports some keys
	 * twice.
	 */
	private static final int STAYING = 300_000;

	private static final int FILL = 10_000;

	private static final String FILLING = "for i = ARGV[2], ARGV[3] do"
			+ " redis.call('SET', ARGV[1] .. string.format('%07d', i), 'value-' .. i) end";

	@Override
	public void run(Bench bench) {
		JavaServer pipeset = bench.pipeset();
		List<Contender> contenders = new ArrayList<>(List.of(redisCli(bench.redis().address())));
		contenders.addAll(bench.bothWays("pipeset", "sweep", pipeset, (query) -> bench.caller()
			.post(List.of(pipeset.uri("/v1/jobs?from=scan&match=cache:*&op=UNLINK&" + query)))));
		bench.run(new Race("sweep", "1M keys deleted by pattern, 300,000 others kept", KEYS,
				() -> fill(bench.redis()), () -> bench.requireSize(STAYING), contenders));
	}

	/** Scans with one redis-cli, and removes with another for each few thousand keys. */
	private static Contender redisCli(Address address) {
		String name = "redis-cli --scan | xargs redis-cli unlink";
		Optional<Program> shell = Program.find("sh");
		if (shell.isEmpty() || Program.find("redis-cli").isEmpty()) {
			return Contender.missing("redis-cli", name);
		}
		String redisCli = "redis-cli -h " + Address.HOST + " -p " + address.port();
		String command = redisCli + " --scan --pattern 'cache:*' | xargs " + redisCli + " unlink";
		return new Contender("redis-cli", name, null,
				() -> shell.get()
					.run(null, Map.of("REDISCLI_AUTH", address.password()), List.of("-c", command))
					.lines()
					.mapToLong(Long::parseLong)
					.sum());
	}

	private static void fill(RedisServer redis) {
		redis.flush();
		try (Jedis jedis = RedisServer.connect(redis.address())) {
			fill(jedis, "cache:", KEYS);
			fill(jedis, "user:", STAYING);
		}
	}

	private static void fill(Jedis jedis, String prefix, int keys) {
		for (int i = 0; i < keys; i += FILL) {
			jedis.eval(FILLING, 0, prefix, String.valueOf(i), String.valueOf(i + FILL - 1));
		}
	}

}
