package io.pipeset.web.job;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.ByteBuffer;
import java.nio.ShortBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.RestoreArgs;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Jobs whose process was killed end without a request, or say what to do. */
@ProcessTest
class UnattendedResumeTests {

	private static final int RECORDS = 3000;

	private static TestRedis redis;

	@TempDir
	Path spool;

	@BeforeAll
	static void startRedis() {
		redis = TestRedis.start();
	}

	@AfterAll
	static void endRedis() {
		redis.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
	}

	@Test
	void theNextProcessResumesTheJobsOfTheKilledOne() throws Exception {
		String location;
		try (ServiceProcess process = start()) {
			location = load(process.service(), "SET", "&label=feed&rateLimit=1000");
			awaitApplied(process.service(), location);
			process.kill();
		}
		try (ServiceProcess next = start()) {
			awaitState(next.service(), location, "completed");
			JsonNode job = next.service().get(location).json();
			assertThat(Answer.counts(job)).isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			assertThat(job.at("/label").asString()).isEqualTo("feed");
			assertThat(job.at("/settings/rateLimit").asInt()).isEqualTo(1000);
			assertThat(redis.client().dbsize()).isGreaterThanOrEqualTo(RECORDS);
		}
	}

	@Test
	void aNeighbourResumesTheJobsOfTheKilledProcess() throws Exception {
		try (ServiceProcess process = start(); ServiceProcess neighbour = start()) {
			String location = load(process.service(), "SET", "&rateLimit=1000");
			awaitApplied(process.service(), location);
			process.kill();
			awaitState(neighbour.service(), location, "completed");
			assertThat(Answer.counts(neighbour.service().get(location).json()).applied()).isEqualTo(RECORDS);
			assertThat(folders()).hasSize(1);
		}
	}

	/** An older record says that another process has the job. */
	@Test
	void aResumedJobGoesOnWhenTheControlRedisIsRestoredFromASnapshot() throws Exception {
		String location;
		// The control Redis is the next database.
		redis.client().select(1);
		Map<String, byte[]> snapshot = new HashMap<>();
		try (ServiceProcess process = start()) {
			location = load(process.service(), "SET", "&rateLimit=300");
			awaitApplied(process.service(), location);
			redis.client().keys("pipeset:*").forEach((key) -> snapshot.put(key, redis.client().dump(key)));
			process.kill();
		}
		try (ServiceProcess next = start()) {
			awaitState(next.service(), location, "running");
			snapshot
				.forEach((key, dump) -> redis.client().restore(key, dump, RestoreArgs.Builder.ttl(60_000).replace()));
			awaitState(next.service(), location, "completed");
			assertThat(Answer.counts(next.service().get(location).json()))
				.isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
			await().untilAsserted(() -> assertThat(
					redis.client().hget(redis.controlKey("job", location.replaceFirst(".*/", "")), "status"))
				.contains("completed"));
		}
		redis.client().select(0);
	}

	/** Its lock says that it lives, whatever the control Redis says. */
	@Test
	void aProcessThatIsPausedKeepsItsJobs() throws Exception {
		try (ServiceProcess process = start(); ServiceProcess neighbour = start()) {
			String sets = load(process.service(), "SET", "&rateLimit=1000&retries=5");
			String pushes = load(process.service(), "LPUSH", "&rateLimit=1000&retries=5");
			awaitApplied(process.service(), sets);
			awaitApplied(process.service(), pushes);
			process.pause();
			awaitState(neighbour.service(), sets, "interrupted");
			awaitState(neighbour.service(), pushes, "interrupted");
			neighbour.service().post(sets + "/resume").refusal(409, "held-elsewhere");
			assertThat(folders()).hasSize(2);
			process.goOn();
			awaitState(neighbour.service(), sets, "completed");
			awaitState(neighbour.service(), pushes, "completed");
			for (String job : List.of(sets, pushes)) {
				assertThat(Answer.counts(process.service().get(job).json()).applied()).isEqualTo(RECORDS);
			}
			assertThat(redis.client().keys("LPUSH*")).hasSize(RECORDS).allMatch((key) -> redis.client().llen(key) == 1);
		}
	}

	/** Its outcomes find no room, and it runs on. */
	@Test
	void aJobThatWasKilledAfterItsSpoolWasFullForgetsNoRecordThatRan() throws Exception {
		int records = 40_000;
		String location = killWithFullSpool("[\"INCRBY\",\"n\",\"1\"]\n".repeat(records));
		long ran = Long.parseLong(redis.client().get("n"));
		try (ServiceProcess next = start()) {
			awaitState(next.service(), location, "failed");
			JsonNode job = next.service().get(location).json();
			Counts counts = Answer.counts(job);
			assertThat(counts.received()).isEqualTo(records);
			assertThat(ran).isBetween(counts.applied(), counts.applied() + counts.unknown());
			assertThat(counts.unprocessed()).isZero();
			assertThat(job.at("/ending/detail").asString()).contains("may have run", "spool was full");
			String items = next.service().get(location + "/items?status=unknown").text();
			assertThat(items.lines()).hasSize((int) counts.unknown());
			next.service().post(location + "/resume").refusal(409, "not-interrupted");
		}
	}

	/** Its records are counted without asking Redis what their operation is. */
	@Test
	void aJobThatWasKilledAfterItsSpoolWasFullIsFoundWithoutRedis() throws Exception {
		int records = 40_000;
		redis.client().rpush("list", "v");
		String location = killWithFullSpool("[\"LSET\",\"list\",\"0\",\"v\"]\n".repeat(records));
		redis.kill();
		try (ServiceProcess next = start()) {
			awaitState(next.service(), location, "failed");
			Counts counts = Answer.counts(next.service().get(location).json());
			assertThat(counts.received()).isEqualTo(records);
			assertThat(counts.unprocessed()).isZero();
			redis.restart();
			await()
				.untilAsserted(() -> assertThat(next.service().get(location + "/items?status=unknown").text().lines())
					.hasSize((int) counts.unknown()));
		}
		finally {
			redis.restart();
		}
	}

	/** The disk may fail for a moment, and the next process may have more memory. */
	@Test
	void filesThatCannotBeReadNowAreKept() throws Exception {
		String location;
		try (ServiceProcess process = start()) {
			location = load(process.service(), "SET", "&rateLimit=1000");
			awaitApplied(process.service(), location);
			process.kill();
		}
		Path aside = this.spool.resolve("aside");
		Path notes = notes();
		Files.move(notes, aside);
		// A folder can be opened, and not read.
		Files.createDirectory(notes);
		try (ServiceProcess next = start()) {
			assertThat(next.output()).anyMatch((line) -> line.contains("cannot be read now"));
			assertThat(state(next.service(), location)).isNotEqualTo("failed");
		}
		notes = notes();
		Files.delete(notes);
		Files.move(aside, notes);
		try (ServiceProcess last = start()) {
			awaitState(last.service(), location, "completed");
			assertThat(Answer.counts(last.service().get(location).json()))
				.isEqualTo(new Counts(RECORDS, RECORDS, 0, 0, 0, 0));
		}
	}

	/** Until then, the record has the lease of the process that was killed. */
	@Test
	void aJobThatIsTakenOverWithoutTheControlRedisIsRecordedLater() throws Exception {
		String location;
		try (ServiceProcess process = start()) {
			location = load(process.service(), "SET", "&rateLimit=1000");
			awaitApplied(process.service(), location);
			process.kill();
		}
		try (FaultProxy control = FaultProxy.open(redis)) {
			control.stopAll();
			Map<String, String> properties = new LinkedHashMap<>(redis.controlProperties());
			properties.put("pipeset.control.port", String.valueOf(control.port()));
			properties.put("pipeset.control.timeout", "1s");
			String[] arguments = properties.entrySet()
				.stream()
				.map((property) -> "--" + property.getKey() + "=" + property.getValue())
				.toArray(String[]::new);
			try (ServiceProcess next = start(arguments);
					ServiceProcess other = start("--pipeset.spool.directory=" + this.spool + "-of-the-other")) {
				await().until(() -> next.service()
					.get(location)
					.json()
					.at("/warnings/0/code")
					.asString("")
					.equals("NOT_RECORDED"));
				control.heal();
				awaitState(next.service(), location, "completed");
				awaitState(other.service(), location, "completed");
			}
		}
	}

	/** Its jobs go on without their files: no other process has them. */
	@Test
	void aProcessWhoseFolderWasRemovedKeepsItsJobs() throws Exception {
		try (ServiceProcess process = start()) {
			// Each batch of its own asks for a connection, and finds the journal gone.
			String location = load(process.service(), "SET", "&rateLimit=1000&batchSize=50");
			awaitApplied(process.service(), location);
			FileSystemUtils.deleteRecursively(folders().findFirst().orElseThrow());
			awaitState(process.service(), location, "completed");
			assertThat(Answer.counts(process.service().get(location).json()).applied()).isEqualTo(RECORDS);
		}
	}

	/** The heartbeat must not release the lock of the process. */
	@Test
	void aProcessThatLivesKeepsItsJobs() throws Exception {
		try (ServiceProcess process = start()) {
			String location = load(process.service(), "SET", "&rateLimit=1000");
			await().until(() -> !heartbeats().isEmpty());
			Path heartbeat = heartbeats().get(0);
			FileTime before = Files.getLastModifiedTime(heartbeat);
			await().until(() -> Files.getLastModifiedTime(heartbeat).compareTo(before) > 0);
			try (ServiceProcess neighbour = start()) {
				assertThat(folders()).hasSize(2);
				assertThat(neighbour.service().get(location).json().has("instance")).isTrue();
				awaitState(process.service(), location, "completed");
				assertThat(Answer.counts(process.service().get(location).json()).applied()).isEqualTo(RECORDS);
			}
		}
	}

	@Test
	void aNeighbourWithoutRoomLeavesTheFilesToTheNextProcess() throws Exception {
		String location;
		try (ServiceProcess process = start(); ServiceProcess full = start("--pipeset.spool.max-bytes=1KB")) {
			location = load(process.service(), "SET", "&rateLimit=1000");
			awaitApplied(process.service(), location);
			process.kill();
			await().until(() -> full.output()
				.stream()
				.anyMatch((line) -> line.contains("do not fit into pipeset.spool.max-bytes")));
		}
		try (ServiceProcess next = start()) {
			awaitState(next.service(), location, "completed");
		}
	}

	@Test
	void aJobWhoseFilesAreBrokenHasFailedWhereverItIsFound() throws Exception {
		try (ServiceProcess process = start(); ServiceProcess neighbour = start()) {
			String location = load(process.service(), "SET", "&rateLimit=500");
			awaitApplied(process.service(), location);
			await().untilAsserted(() -> assertThat(neighbour.service().get(location).status()).isEqualTo(200));
			// Before the kill, because the neighbour takes the files over at once.
			try (Stream<Path> files = Files.walk(this.spool)) {
				Path body = files.filter((path) -> path.toString().endsWith(".body")).findFirst().orElseThrow();
				Files.writeString(body, "[");
			}
			process.kill();
			awaitState(neighbour.service(), location, "failed");
		}
	}

	@Test
	void aJobThatMustNotRunTwiceSaysWhatToDo() throws Exception {
		String location;
		try (ServiceProcess process = start()) {
			location = load(process.service(), "LPUSH", "&rateLimit=500");
			awaitApplied(process.service(), location);
			redis.pause();
			await().until(this::hasRecordInFlight);
			process.kill();
			redis.resume();
		}
		try (ServiceProcess next = start()) {
			await().untilAsserted(() -> assertThat(next.service().get(location).json().at("/ending/detail").asString())
				.contains("LPUSH, which must not run twice")
				.contains("/items?status=unprocessed"));
			assertThat(state(next.service(), location)).isEqualTo("interrupted");
			assertThat(next.service().post(location + "/resume").refusal(409, "not-repeatable"))
				.contains("must not run twice");
		}
	}

	/** Whether the journal has a record that was sent and has no outcome. */
	private boolean hasRecordInFlight() throws IOException {
		try (Stream<Path> files = Files.walk(this.spool)) {
			Path outcomes = files.filter((file) -> file.toString().endsWith(".outcomes")).findFirst().orElseThrow();
			ShortBuffer numbers = ByteBuffer.wrap(Files.readAllBytes(outcomes)).asShortBuffer();
			return IntStream.range(0, numbers.limit()).anyMatch((i) -> numbers.get(i) == 3);
		}
	}

	/** Nothing of it may have run without its outcome. */
	@Test
	void aJobThatMustNotRunTwiceGoesOnWhereAllOutcomesAreKnown() throws Exception {
		String location;
		try (ServiceProcess process = start("--pipeset.limits.shutdown-grace=0s")) {
			location = load(process.service(), "LPUSH", "&rateLimit=1000");
			awaitApplied(process.service(), location);
			process.terminate();
			process.awaitEnd();
		}
		try (ServiceProcess next = start()) {
			awaitState(next.service(), location, "completed");
			assertThat(redis.client().keys("LPUSH*")).hasSize(RECORDS).allMatch((key) -> redis.client().llen(key) == 1);
		}
	}

	@Test
	void aJobThatCannotBeResumedYetSaysWhy() throws Exception {
		String location;
		try (ServiceProcess process = start()) {
			location = load(process.service(), "SET", "&rateLimit=1000");
			awaitApplied(process.service(), location);
			process.kill();
		}
		try (ServiceProcess full = start("--pipeset.limits.max-async-jobs=0")) {
			await().untilAsserted(() -> assertThat(full.service().get(location).json().at("/ending/detail").asString())
				.contains("It cannot be resumed yet, and is tried again: ", "max-async-jobs",
						". GET " + location + "/items lists"));
			full.kill();
		}
		try (ServiceProcess next = start()) {
			awaitState(next.service(), location, "completed");
		}
	}

	@Test
	void aJobWhoseProcessEndedLongAgoWaitsForARequestAlsoAfterRestarts() throws Exception {
		String location;
		try (ServiceProcess process = start()) {
			location = load(process.service(), "SET", "&rateLimit=1000");
			awaitApplied(process.service(), location);
			process.kill();
		}
		for (Path heartbeat : heartbeats()) {
			Files.setLastModifiedTime(heartbeat, FileTime.from(Instant.now().minus(Duration.ofHours(1))));
		}
		for (int i = 0; i < 2; i++) {
			try (ServiceProcess next = start()) {
				await()
					.untilAsserted(() -> assertThat(next.service().get(location).json().at("/ending/detail").asString())
						.contains("its process ended longer ago than pipeset.jobs.resume-within=900s")
						.contains("POST " + location.substring(location.indexOf("/v1/")) + "/resume"));
				next.kill();
			}
		}
		try (ServiceProcess last = start()) {
			assertThat(last.service().post(location + "/resume").status()).isEqualTo(202);
			awaitState(last.service(), location, "completed");
			assertThat(redis.client().dbsize()).isGreaterThanOrEqualTo(RECORDS);
		}
	}

	private Path notes() throws IOException {
		try (Stream<Path> files = Files.walk(this.spool)) {
			return files.filter((path) -> path.toString().endsWith(".notes")).findFirst().orElseThrow();
		}
	}

	private String killWithFullSpool(String body) throws Exception {
		try (ServiceProcess process = start("--pipeset.spool.max-bytes=" + (body.length() + 20_000) + "B")) {
			Answer answer = process.service()
				.send(process.service()
					.request("/v1/jobs?rateLimit=20000&batchSize=1000")
					.header("Prefer", "respond-async")
					.header("Content-Type", Service.NDJSON)
					.POST(BodyPublishers.ofString(body)));
			String location = answer.header("Location");
			await().until(() -> Answer.counts(process.service().get(location).json()).applied() > 15_000);
			assertThat(process.service().get(location).json().at("/warnings").toString()).contains("ITEMS_REMOVED",
					"could not be kept");
			process.kill();
			return location;
		}
	}

	private ServiceProcess start(String... more) throws Exception {
		return ServiceProcess.start(redis, Stream.concat(Stream.of("--pipeset.spool.directory=" + this.spool,
				"--pipeset.jobs.resume=auto", "--pipeset.jobs.lease=2s"), Stream.of(more))
			.toArray(String[]::new));
	}

	private static String load(Service service, String operation, String settings) {
		String body = IntStream.range(0, RECORDS)
			.mapToObj((i) -> "[\"" + operation + "\",\"" + operation + i + "\",\"v\"]\n")
			.collect(Collectors.joining());
		Answer answer = service.send(service.request("/v1/jobs?concurrency=2" + settings)
			.header("Prefer", "respond-async")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(body)));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.header("Location");
	}

	private static void awaitApplied(Service service, String location) {
		await().until(() -> Answer.counts(service.get(location).json()).applied() > 0);
	}

	private static void awaitState(Service service, String location, String state) {
		await().untilAsserted(() -> {
			Answer answer = service.get(location);
			assertThat(answer.status()).as(answer.text()).isEqualTo(200);
			assertThat(answer.json().at("/state").asString()).as(answer.text()).isEqualTo(state);
		});
	}

	private static String state(Service service, String location) {
		return service.get(location).json().at("/state").asString();
	}

	private List<Path> heartbeats() throws IOException {
		try (Stream<Path> files = Files.list(this.spool)) {
			return files.filter((path) -> path.getFileName().toString().matches(".+\\.alive")).toList();
		}
	}

	private Stream<Path> folders() throws IOException {
		try (Stream<Path> files = Files.list(this.spool)) {
			return files.filter(Files::isDirectory).toList().stream();
		}
	}

}
