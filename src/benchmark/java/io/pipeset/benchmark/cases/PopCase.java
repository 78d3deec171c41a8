package io.pipeset.benchmark.cases;

import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.pipeset.benchmark.data.Caller;
import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.RedisServer;
import redis.clients.jedis.Jedis;

/** 1M RPOPs in jobs of 100,000, each of which answers with the values. */
public final class PopCase implements BenchmarkCase {

	private static final String LIST = "benchmark";

	private static final String VALUE = "value-0000000";

	private static final int JOBS = 10;

	private static final long JOB = 100_000;

	private static final int PUSH = 1_000;

	@Override
	public void run(Bench bench) {
		JavaServer pipeset = bench.pipeset();
		String path = "/piperpop/" + JOB + "?key=" + LIST + "&";
		try (Dataset data = bench.dataset("rpop", new Shape.Pop(LIST), JOBS * JOB)) {
			List<Contender> contenders = new ArrayList<>(List.of(bench.redisCli(data, bench.redis().address())));
			contenders.addAll(bench.bothWays("pipeset", "10 jobs with their values", pipeset,
					(query) -> pop(bench.caller(), pipeset.uri(path + query))));
			bench.run(new Race("rpop", "1M RPOPs of 13-byte values", JOBS * JOB, () -> fill(bench.redis()),
					() -> requireEmpty(bench.redis()), contenders));
		}
	}

	private static long pop(Caller caller, URI job) {
		long popped = caller.post(Collections.nCopies(JOBS, job));
		for (int i = 0; i < JOBS; i++) {
			if (caller.answerBytes(i) < JOB * VALUE.length()) {
				throw new BenchmarkException("An answer has not all of its values");
			}
		}
		return popped;
	}

	private static void fill(RedisServer redis) {
		redis.flush();
		try (Jedis jedis = RedisServer.connect(redis.address())) {
			for (long i = 0; i < JOBS * JOB; i += PUSH) {
				String[] values = new String[PUSH];
				for (int j = 0; j < PUSH; j++) {
					values[j] = VALUE.substring(0, VALUE.length() - 7) + (1_000_000 + i + j);
				}
				jedis.lpush(LIST, values);
			}
		}
	}

	private static void requireEmpty(RedisServer redis) {
		long left = redis.length(LIST);
		if (left != 0) {
			throw new BenchmarkException(left + " values were not popped");
		}
	}

}
