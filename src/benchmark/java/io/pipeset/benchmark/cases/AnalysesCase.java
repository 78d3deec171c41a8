package io.pipeset.benchmark.cases;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.measure.Contender.Attempt;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.process.Address;
import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.Program;
import io.pipeset.benchmark.process.RedisServer;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;

/** A look at a million keys, 700,000 strings and 300,000 hashes. */
public final class AnalysesCase implements BenchmarkCase {

	private static final long STRINGS = 700_000;

	private static final long HASHES = 300_000;

	private static final long KEYS = STRINGS + HASHES;

	private static final int COMMANDS_A_KEY = 3;

	private static final Pattern FOUND = Pattern.compile("\"keys\":(\\d+)");

	private final HttpClient client = HttpClient.newHttpClient();

	@Override
	public void run(Bench bench) {
		JavaServer pipeset = bench.pipeset();
		bench.redis().flush();
		bench.caller().post(List.of(pipeset.uri("/pipeset/" + STRINGS)));
		bench.caller().post(List.of(pipeset.uri("/pipehset/" + HASHES)));
		Address address = bench.redis().address();
		Path commands = bench.work().resolve("data").resolve("analyses.resp");
		write(commands, bench.redis());
		Optional<Program> redisCli = Program.find("redis-cli");
		List<Contender> contenders = List.of(
				contender("pipe", "redis-cli --pipe with TYPE, MEMORY USAGE and PTTL",
						redisCli.map((cli) -> () -> RedisServer.pipe(cli, address, commands) / COMMANDS_A_KEY)),
				contender("memkeys", "redis-cli --memkeys", redisCli.map((cli) -> () -> memkeys(cli, address))),
				new Contender("pipeset", "Pipeset", pipeset, () -> analyse(pipeset.uri("/v1/analyses"))));
		bench.run(new Race("analyses", "Analysis of 1M keys", KEYS, () -> {
		}, () -> bench.requireSize(KEYS), contenders));
		bench.redis().flush();
	}

	private static Contender contender(String id, String name, Optional<Attempt> attempt) {
		return attempt.map((installed) -> new Contender(id, name, null, installed))
			.orElseGet(() -> Contender.missing(id, name));
	}

	private static long memkeys(Program redisCli, Address address) {
		String output = redisCli.run(null, Map.of("REDISCLI_AUTH", address.password()),
				List.of("-h", Address.HOST, "-p", String.valueOf(address.port()), "--memkeys"));
		Matcher sampled = Pattern.compile("Sampled (\\d+) keys").matcher(output);
		if (!sampled.find()) {
			throw new BenchmarkException("redis-cli --memkeys failed: " + output);
		}
		return Long.parseLong(sampled.group(1));
	}

	private long analyse(URI uri) {
		try {
			String answer = this.client
				.send(HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.noBody()).build(),
						BodyHandlers.ofString())
				.body();
			Matcher found = FOUND.matcher(answer);
			if (!found.find()) {
				throw new BenchmarkException("No analysis: " + answer);
			}
			return Long.parseLong(found.group(1));
		}
		catch (IOException ex) {
			throw new BenchmarkException("The analysis failed", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BenchmarkException("Interrupted", ex);
		}
	}

	/** Writes the commands for all keys, in the order of SCAN. */
	private static void write(Path file, RedisServer redis) {
		try {
			Files.createDirectories(file.getParent());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		try (Jedis jedis = RedisServer.connect(redis.address());
				OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
			String cursor = ScanParams.SCAN_POINTER_START;
			do {
				ScanResult<String> page = jedis.scan(cursor, new ScanParams().count(10_000));
				for (String key : page.getResult()) {
					String bulk = "$" + key.length() + "\r\n" + key + "\r\n";
					out.write(("*2\r\n$4\r\nTYPE\r\n" + bulk + "*5\r\n$6\r\nMEMORY\r\n$5\r\nUSAGE\r\n" + bulk
							+ "$7\r\nSAMPLES\r\n$1\r\n5\r\n*2\r\n$4\r\nPTTL\r\n" + bulk)
						.getBytes(StandardCharsets.US_ASCII));
				}
				cursor = page.getCursor();
			}
			while (!cursor.equals(ScanParams.SCAN_POINTER_START));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
