package io.pipeset.benchmark.cases;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.Program;
import io.pipeset.benchmark.process.RedisServer;
import redis.clients.jedis.Jedis;

/**
 * SETs by themselves against MSET and MSETEX of fifty, whose CPU seconds of Redis decide
 * what {@code coalesce=auto} sends to this server, and then what it gains.
 */
public final class GainsCase implements BenchmarkCase {

	private static final int RECORDS = 1_000_000;

	private static final int TOGETHER = 50;

	private static final String[] EXPIRY = { "EX", "3600" };

	private static final String[] NONE = {};

	@Override
	public void run(Bench bench) {
		race(bench, "sets", "1M SETs", "MSET", NONE, "");
		race(bench, "sets-ttl", "1M SETs with EX", knowsMsetex(bench.redis()) ? "MSETEX" : "", EXPIRY, "&ttl=3600");
	}

	private static void race(Bench bench, String key, String title, String common, String[] expiry, String query) {
		List<Contender> contenders = new ArrayList<>();
		contenders.add(piped(bench, key + "-alone", "SET", 1, expiry));
		if (!common.isEmpty()) {
			contenders.add(piped(bench, key + "-common", common, TOGETHER, expiry));
		}
		JavaServer service = bench.pipeset();
		contenders.addAll(bench.bothWays("generated", "generated", service, (coalesce) -> bench.caller()
			.post(List.of(service.uri("/pipeset/" + RECORDS + "?" + coalesce + query)))));
		bench.raceEmpty(key + "/empty", title + " into an empty " + bench.redis().version(), RECORDS, contenders);
		bench.raceOverwriting(key + "/over", title + " over the same keys", RECORDS, contenders);
	}

	/** The commands from a file, by redis-cli. */
	private static Contender piped(Bench bench, String id, String command, int together, String[] expiry) {
		String name = "redis-cli --pipe, " + command + ((together > 1) ? " of " + together : "");
		Optional<Program> redisCli = Program.find("redis-cli");
		if (redisCli.isEmpty()) {
			return Contender.missing(id, name);
		}
		Path file = bench.work().resolve("data").resolve(id + ".resp");
		write(file, command, together, expiry);
		return new Contender(id, name, null,
				() -> RedisServer.pipe(redisCli.get(), bench.redis().address(), file) * together);
	}

	private static void write(Path file, String command, int together, String[] expiry) {
		try {
			Files.createDirectories(file.getParent());
			try (BufferedWriter out = Files.newBufferedWriter(file, StandardCharsets.US_ASCII)) {
				for (int first = 0; first < RECORDS; first += together) {
					List<String> words = new ArrayList<>(List.of(command));
					if (command.equals("MSETEX")) {
						words.add(String.valueOf(together));
					}
					for (int i = first; i < first + together; i++) {
						words.add(String.format("keyA%05d", i));
						words.add(String.format("value-%05d", i));
					}
					words.addAll(List.of(expiry));
					out.write("*" + words.size() + "\r\n");
					for (String word : words) {
						out.write("$" + word.length() + "\r\n" + word + "\r\n");
					}
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static boolean knowsMsetex(RedisServer redis) {
		try (Jedis jedis = RedisServer.connect(redis.address())) {
			return !jedis.commandInfo("MSETEX").isEmpty();
		}
	}

}
