package io.pipeset.web.upload;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.record.Operation;
import io.pipeset.record.format.HostileBodies;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Any upload is answered with an account that adds up, and only commands of the table of
 * operations get to Redis.
 */
@ServiceTest(properties = "pipeset.limits.max-record-bytes=2KB")
@Timeout(600)
class HostileUploadTests {

	private static final String GZIP = "gzip";

	/**
	 * The step between bodies. The parsers' tests read every body; here every fifth one
	 * is enough.
	 */
	private static final int STEP = 5;

	/**
	 * The other commands, which the driver, this test and the sweeper of receipts send.
	 */
	private static final Set<String> ALLOWED = Stream
		.concat(Set
			.of("acl", "auth", "client", "command", "config", "hello", "info", "lindex", "mset", "ping", "script",
					"select", "eval", "time", "zrange")
			.stream(), Operation.values().stream().map((row) -> row.name().toLowerCase(Locale.ROOT)))
		.collect(Collectors.toSet());

	private static final List<String> QUERIES = List.of("", "?op=SET", "?op=HSET&concurrency=2", "?op=DEL&flush=each");

	private static final Pattern COMMAND = Pattern.compile("cmdstat_([a-z_]+)");

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	HostileUploadTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	static List<String> mediaTypes() {
		return Stream.concat(Stream.of(RecordFormat.values()).map(RecordFormat::mediaType), Stream.of(GZIP)).toList();
	}

	@ParameterizedTest
	@MethodSource("mediaTypes")
	void everyBodyHasAnAccountThatAddsUp(String mediaType) {
		this.redis.configResetstat();
		String type = (mediaType.equals(GZIP)) ? Service.NDJSON : mediaType;
		HostileBodies.tryEach(type, STEP, (seed, body) -> {
			HttpRequest.Builder request = this.service.request("/v1/jobs" + QUERIES.get(seed % QUERIES.size()))
				.header("Content-Type", type);
			byte[] sent = body;
			if (mediaType.equals(GZIP)) {
				request.header("Content-Encoding", GZIP);
				sent = HostileBodies.mutate(gzip(body), new Random(seed));
			}
			assertAccounted(this.service.send(request.POST(BodyPublishers.ofByteArray(sent))));
		});
		assertThat(commands()).contains("set").isSubsetOf(ALLOWED);
		String stats = this.redis.info("commandstats");
		assertThat(calls(stats, "eval")).isEqualTo(calls(stats, "zrange")).isEqualTo(calls(stats, "time"));
		this.service.post("/pipeset/10").report();
	}

	private static void assertAccounted(Answer answer) {
		if (answer.status() == 200) {
			answer.report();
		}
		else if (answer.status() == 422) {
			answer.job(422, "stopped", "stopped");
		}
		else {
			JsonNode job = answer.job(400, "malformed-body", "failed");
			assertThat(job.at("/byteOffset").asLong(-1)).isNotNegative();
			assertThat(job.at("/inputComplete").asBoolean(true)).isFalse();
		}
	}

	private static String calls(String stats, String command) {
		Matcher calls = Pattern.compile("cmdstat_" + command + ":calls=(\\d+)").matcher(stats);
		return (calls.find()) ? calls.group(1) : "0";
	}

	private Set<String> commands() {
		return COMMAND.matcher(this.redis.info("commandstats"))
			.results()
			.map((MatchResult result) -> result.group(1))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static byte[] gzip(byte[] bytes) {
		ByteArrayOutputStream gzip = new ByteArrayOutputStream();
		try (OutputStream out = new GZIPOutputStream(gzip)) {
			out.write(bytes);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
		return gzip.toByteArray();
	}

}
