package io.pipeset.web.job;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.SpoolFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two services with a Redis each share a folder for spooled files, and a control Redis.
 * Whichever of them is killed, and whichever starts next, the uploads of one are nothing
 * to the other, and are there for its own next process.
 */
@ProcessTest
class OtherRedisTests {

	private static final int RECORDS = 50;

	@TempDir
	Path spool;

	@Test
	void theUploadsOfOneRedisAreNothingToAServiceOfAnother() throws Exception {
		try (TestRedis x = TestRedis.start(); TestRedis y = TestRedis.start(); TestRedis control = TestRedis.start()) {
			String ofX;
			List<Path> left;
			try (ServiceProcess process = start(x, control)) {
				ofX = upload(process.service(), x);
				process.kill();
				left = files();
			}
			Path folder = left.stream()
				.filter((file) -> file.toString().endsWith(".job"))
				.findAny()
				.orElseThrow()
				.getParent();
			String ofY;
			try (ServiceProcess process = start(y, control)) {
				assertUnknown(process.service(), ofX);
				assertThat(leftAlone(process)).singleElement()
					.asString()
					.contains(folder + " of " + name(x) + ".", "than " + name(y) + " ",
							"pipeset.spool.directory=" + this.spool);
				assertThat(files()).containsAll(left);
				assertThat(process.service().get("/actuator/pipeset").json().at("/spool/usedBytes").asLong(-1))
					.isZero();
				// With the same key, which is another one at another Redis.
				ofY = upload(process.service(), y);
				assertThat(process.service().get("/v1/jobs").json().get("jobs")).hasSize(1);
				process.kill();
			}
			assertThat(files()).containsAll(left);
			try (ServiceProcess process = start(x, control)) {
				Service service = process.service();
				assertUnknown(service, ofY);
				assertThat(leftAlone(process)).singleElement()
					.asString()
					.contains(" of " + name(y) + ".", "than " + name(x) + " ");
				assertThat(state(service, ofX)).isEqualTo("interrupted");
				assertThat(service.get(ofX).json().get("redis").asString()).isEqualTo(name(x));
				assertThat(service.post(ofX + "/resume").status()).isEqualTo(202);
				service.patch(ofX + "?rateLimit=none");
				await().until(() -> service.get(ofX).headers().firstValue("Retry-After").isEmpty());
				assertThat(Answer.counts(service.get(ofX).json()).applied()).isEqualTo(RECORDS);
				process.terminate();
				process.awaitEnd();
			}
			assertThat(x.client().dbsize()).isEqualTo(RECORDS);
			assertThat(y.client().dbsize()).isLessThan(RECORDS);
			try (ServiceProcess process = start(y, control)) {
				Service service = process.service();
				assertUnknown(service, ofX);
				assertThat(leftAlone(process)).as("nothing of another Redis is left").isEmpty();
				assertThat(state(service, ofY)).isEqualTo("interrupted");
				assertThat(service.delete(ofY).status()).isEqualTo(202);
			}
		}
	}

	@Test
	void allThatIsKeptOfJobsStandsInTheDatabaseOfTheirData() throws Exception {
		try (TestRedis redis = TestRedis.start()) {
			Map<String, String> environment = new HashMap<>();
			redis.properties()
				.forEach((name, value) -> environment.put(name.toUpperCase(Locale.ROOT).replace('.', '_'), value));
			environment.remove("PIPESET_CONTROL_DATABASE");
			environment.put("SPRING_DATA_REDIS_DATABASE", "3");
			RedisCommands<String, String> data = redis.client();
			data.select(3);
			data.rpush("list", "value");
			try (ServiceProcess process = ServiceProcess.start(environment)) {
				Answer popped = process.service()
					.send(process.service()
						.request("/piperpop/1?key=list&reliable=true")
						.header("Idempotency-Key", "popped")
						.POST(BodyPublishers.noBody()));
				assertThat(popped.report().get("redis").asString()).isEqualTo(address(redis) + "/3");
				assertThat(data.keys("*")).contains("pipeset:receipts")
					.anyMatch((key) -> key.startsWith("pipeset:pop:"))
					.anyMatch((key) -> key.startsWith("pipeset:key:" + address(redis) + "/3:"))
					.anyMatch((key) -> key.startsWith("pipeset:job:" + address(redis) + "/3:"))
					.contains("pipeset:jobs:" + address(redis) + "/3:none");
			}
			assertThat(data.info("keyspace").lines().filter((line) -> line.startsWith("db"))).singleElement()
				.asString()
				.startsWith("db3:");
		}
	}

	private ServiceProcess start(TestRedis redis, TestRedis control) throws Exception {
		List<String> arguments = new ArrayList<>(List.of("--pipeset.spool.directory=" + this.spool));
		control.controlProperties().forEach((name, value) -> arguments.add("--" + name + "=" + value));
		return ServiceProcess.start(redis, arguments.toArray(String[]::new));
	}

	/** Has an upload that is run in part. */
	private static String upload(Service service, TestRedis redis) {
		String body = IntStream.range(0, RECORDS)
			.mapToObj("[\"SET\",\"key%d\",\"value\"]\n"::formatted)
			.reduce("", String::concat);
		Answer taken = service.send(service.request("/v1/jobs?rateLimit=1")
			.header("Prefer", "respond-async")
			.header("Idempotency-Key", "the-same")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(body)));
		assertThat(taken.status()).as(taken.text()).isEqualTo(202);
		await().until(() -> redis.client().exists("key0") == 1);
		return taken.header("Location");
	}

	private static void assertUnknown(Service service, String location) {
		assertThat(service.get("/v1/jobs").text()).doesNotContain(location.substring("/v1/jobs/".length()));
		service.get(location).refusal(404, "not-found");
		service.get(location + "/items").refusal(404, "not-found");
		service.post(location + "/resume").refusal(404, "not-found");
		service.patch(location + "?rateLimit=5").refusal(404, "not-found");
		service.delete(location).refusal(404, "not-found");
	}

	private static Stream<String> leftAlone(ServiceProcess process) {
		return process.output().stream().filter((line) -> line.contains("left alone"));
	}

	private static String state(Service service, String location) {
		return service.get(location).json().get("state").asString();
	}

	private static String name(TestRedis redis) {
		return address(redis) + "/0";
	}

	private static String address(TestRedis redis) {
		return redis.host() + ":" + redis.port();
	}

	private List<Path> files() throws Exception {
		return SpoolFiles.ending(this.spool, "").stream().filter((file) -> Files.exists(file)).sorted().toList();
	}

}
