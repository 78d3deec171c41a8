package io.pipeset.web.operator;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.KillArgs;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The log has a line for each job and each fault, and neither a value nor a credential.
 */
@ProcessTest
class LogTests {

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private static final String SECRET = "s3cret-of-a-caller";

	/** The jobs that did not complete. */
	private final List<String> faulty = new ArrayList<>();

	private final List<String> completed = new ArrayList<>();

	/** Checks that a structured log has the line of a job, with its id as a field. */
	static void assertCompleted(List<String> lines, String idAt, String id, String messageAt, String counts) {
		assertThat(lines.stream().map(mapper::readTree)).filteredOn((line) -> line.at(idAt).asString("").equals(id))
			.singleElement()
			.satisfies((line) -> assertThat(line.at(messageAt).asString()).contains("completed")
				.contains(counts)
				.contains("totalMillis="));
	}

	/** ShutdownTests has the third of the formats. */
	@Test
	void everyFaultIsALineAndNoneHasAValueOrACredential(@TempDir Path directory) throws Exception {
		Path file = directory.resolve("log");
		try (TestRedis redis = TestRedis.start();
				ServiceProcess process = ServiceProcess.start(redis, "--logging.level.io.pipeset=debug",
						"--logging.structured.format.console=ecs", "--logging.structured.format.file=logstash",
						"--logging.file.name=" + file)) {
			String first = process.service().post("/pipeset/10").report().get("jobId").asString();
			faultsOfCallers(process.service(), redis);
			faultsOfRedis(process.service(), redis);
			process.terminate();
			process.awaitEnd();
			assertCompleted(process.output(), "/jobId", first, "/message", "received=10 applied=10 ");
			assertCompleted(Files.readAllLines(file), "/jobId", first, "/message", "received=10 applied=10 ");
			String password = redis.password();
			assertThat(process.output()).noneMatch((line) -> line.contains(SECRET))
				.noneMatch((line) -> password != null && line.contains(password));
			List<JsonNode> lines = process.output().stream().map(mapper::readTree).toList();
			for (String job : this.completed) {
				assertThat(levels(lines, job)).containsExactly("INFO");
			}
			for (String job : this.faulty) {
				assertThat(levels(lines, job)).containsExactly("WARN", "INFO");
			}
			assertThat(lines).filteredOn((line) -> line.at("/message").asString("").contains(" did not complete, "))
				.isNotEmpty()
				.allSatisfy((line) -> assertThat(line.at("/client").asString("")).isEqualTo("none"));
			List<String> warned = lines.stream()
				.filter((line) -> line.at("/log/level").asString("").equals("WARN")
						&& line.at("/log/logger").asString("").startsWith("io.pipeset"))
				.filter((line) -> !line.at("/message").asString().contains(", cancelled: "))
				.map((line) -> line.at("/jobId").asString(""))
				.toList();
			assertThat(warned).isEqualTo(this.faulty);
			assertThat(lines).filteredOn((line) -> line.at("/message").asString("").contains(", cancelled: "))
				.singleElement()
				.satisfies((line) -> assertThat(levels(lines, line.at("/jobId").asString())).containsExactly("WARN",
						"INFO"));
			assertThat(lines)
				.filteredOn((line) -> line.at("/message").asString("").contains("received=1234 applied=1234 "))
				.as("a job whose caller went away after its upload")
				.hasSize(1);
			assertThat(lines).filteredOn((line) -> line.at("/log/level").asString("").equals("ERROR")).isEmpty();
			assertThat(lines).extracting((line) -> line.at("/message").asString(""))
				.anyMatch((message) -> message.contains("Callers: this machine only, without a key"))
				.anyMatch((message) -> message.contains(", malformed-body: at byte "))
				.anyMatch((message) -> message.contains("with OOM"))
				.anyMatch((message) -> message.contains("Redis at " + address(redis) + " was silent for 1s"))
				.anyMatch((message) -> message.contains("The connection to Redis at " + address(redis) + " was lost"))
				.anyMatch((message) -> message
					.contains(", redis-unreachable: No connection to Redis at " + address(redis) + ": "))
				.anyMatch((message) -> message
					.contains(", redis-refuses: No connection to Redis at " + address(redis) + ": WRONGPASS"));
		}
	}

	private void faultsOfCallers(Service service, TestRedis redis) throws Exception {
		redis.client().set("string", "1");
		String secret = "\"" + SECRET + "\"";
		note(service.ndjson("/v1/jobs", "[\"SET\",\"a\"," + secret + "]", "[\"LPUSH\",\"string\"," + secret + "]",
				"{\"op\":\"SET\",\"value\":" + secret + "}", "[\"SET\",\"a\"," + secret + "," + secret + "]",
				"[" + secret + ",\"a\"]", SECRET));
		note(service.post("/v1/jobs", Service.JSON, "[[\"SET\",\"a\"," + secret + "]," + SECRET + "]"));
		note(service.post("/v1/jobs?maxErrors=0", Service.NDJSON, SECRET + "\n"));
		note(service.post("/pipeset/7", Service.NDJSON, "{\"key\":\"a\",\"value\":" + secret + "}\n"));
		service.post("/v1/jobs?batchSize=0", Service.NDJSON, SECRET).refusal(400, "invalid-setting");
		service.post("/v1/jobs", "text/html", SECRET).refusal(415, "unsupported-media-type");
		try (Wire wire = Wire.open(service, "[\"SET\",\"card\"," + secret + "]")) {
			assertThat(wire.answer().status()).isEqualTo(400);
		}
		try (Wire wire = Wire.upload(service, "/v1/jobs")) {
			note(wire.chunk("[\"SET\",\"a\"," + secret + "]\n").send("0\r\n" + SECRET + "\r\n\r\n").answer());
		}
		try (Wire wire = Wire.upload(service, "/v1/jobs")) {
			wire.chunk("[\"SET\",\"gone\"," + secret + "]\n[\"SET\",\"b\",\"" + SECRET);
			await().until(() -> redis.client().exists("gone") == 1);
		}
		try (Wire wire = Wire.upload(service, "/v1/jobs?results=all")) {
			wire.chunk(("[\"SET\",\"deaf\"," + secret + "]\n").repeat(1234)).lastChunk();
		}
		await().until(() -> redis.client().exists("deaf") == 1);
		await().until(() -> service.get("/actuator/pipeset").json().at("/jobsRunning").asInt() == 0);
	}

	private void faultsOfRedis(Service service, TestRedis redis) throws Exception {
		redis.client().configSet("maxmemory", "1");
		note(service.ndjson("/v1/jobs", "[\"SET\",\"a\",\"" + SECRET + "\"]"));
		redis.client().configSet("maxmemory", "0");
		CompletableFuture<Answer> silent = upload(service, "silent", "1s");
		await().until(() -> redis.client().exists("silent100") == 1);
		redis.pauseWrites();
		note(silent.get(60, TimeUnit.SECONDS));
		redis.resumeWrites();
		await().until(() -> service.post("/pipeset/0").status() == 200);
		CompletableFuture<Answer> lost = upload(service, "lost", "60s");
		await().until(() -> redis.client().exists("lost100") == 1);
		redis.pauseWrites();
		service.awaitStandstill();
		redis.kill();
		try {
			note(lost.get(60, TimeUnit.SECONDS));
			noteUntil(service, "No connection to Redis at " + address(redis) + ": ");
		}
		finally {
			redis.restart();
		}
		note(service.ndjson("/v1/jobs", "[\"SET\",\"a\",\"" + SECRET + "\"]"));
		String password = String.valueOf(redis.client().configGet("requirepass").get("requirepass"));
		redis.client().configSet("requirepass", "another");
		redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
		noteUntil(service, "WRONGPASS");
		redis.client().configSet("requirepass", password);
	}

	private static String address(TestRedis redis) {
		return redis.host() + ":" + redis.port();
	}

	private CompletableFuture<Answer> upload(Service service, String prefix, String timeout) {
		return service.sendAsync(service.uploading("/v1/jobs?timeout=" + timeout, Service.NDJSON,
				Lines.of(3_000_000, (i) -> "[\"SET\",\"" + prefix + i % 1000 + "\",\"" + SECRET + "\"]")));
	}

	/**
	 * Repeats the job, as the first one may still meet a pooled connection whose end was
	 * not noticed.
	 */
	private void noteUntil(Service service, String detail) {
		await().until(() -> {
			Answer answer = service.ndjson("/v1/jobs", "[\"SET\",\"a\",\"" + SECRET + "\"]");
			note(answer);
			return answer.text().contains(detail);
		});
	}

	private void note(Answer answer) {
		JsonNode job = (answer.status() == 200) ? answer.json() : answer.json().get("job");
		((answer.status() == 200) ? this.completed : this.faulty).add(job.get("jobId").asString());
	}

	private static List<String> levels(List<JsonNode> lines, String job) {
		return lines.stream()
			.filter((line) -> line.at("/jobId").asString("").equals(job))
			.map((line) -> line.at("/log/level").asString())
			.toList();
	}

}
