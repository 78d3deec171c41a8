package io.pipeset.web.job;

import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.Documentation;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Shell;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A reader of the documentation who has curl and a large file loads it, sees it going in,
 * has the service killed in the middle, starts the next one, and posts what failed: by
 * the commands of {@code docs/async.md} as they stand, one after the other.
 * {@code -Dcampaign.megabytes=N} says how large the file is.
 */
@ProcessTest
class StrangerTests {

	private static final int MEGABYTES = Integer.getInteger("campaign.megabytes", 2);

	private static final long ROWS = MEGABYTES * 1_000_000L / (row(0).length() + 2);

	/** Each such row meets a string at its key. */
	private static final int TAKEN = 1000;

	/** The lease of a process that is not to be taken for gone while it stands still. */
	private static final String LIVES = "pipeset.jobs.lease=1m";

	private static final String PORT = "spring.data.redis.port=";

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	private final JsonMapper mapper = JsonMapper.builder().build();

	@TempDir
	Path folder;

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
	}

	@AfterAll
	static void leaveNothingBehind() {
		redis.flushall();
	}

	@Test
	void aLargeFileGoesInAcrossAKillAndItsFailuresArePostedAgain() throws Exception {
		// What waits for a service is left out, because a service of the test is ready.
		List<String> commands = Documentation.commands("docs/async.md", "## Jobs whose process ended")
			.stream()
			.filter((command) -> !command.startsWith("until "))
			.toList();
		writeFile();
		String[] taken = LongStream.range(0, ROWS)
			.filter((i) -> i % TAKEN == 0)
			.mapToObj(StrangerTests::key)
			.toArray(String[]::new);
		Stream.of(taken).forEach((key) -> redis.set(key, "a string"));
		Iterator<String> next = commands.iterator();
		try (FaultProxy proxy = FaultProxy.open(TestRedis.shared());
				ServiceProcess living = start("--" + LIVES, "--" + PORT + proxy.port())) {
			String waits = waiting(living.service());
			assertThat(next.next()).startsWith("java -jar target/pipeset-1.0.0.jar");
			String id;
			// Only replies to records are counted.
			Stream<String> control = TestRedis.shared()
				.controlProperties()
				.entrySet()
				.stream()
				.map((property) -> "--" + property.getKey() + "=" + property.getValue());
			try (ServiceProcess killed = start(Stream
				.concat(control,
						Stream.of("--pipeset.jobs.lease=2s", "--pipeset.defaults.timeout=10m",
								"--" + PORT + proxy.port(), "--spring.data.redis.client-name=killed"))
				.toArray(String[]::new))) {
				CompletableFuture<ProxyLink> half = proxy.stopAt("killed", Way.REPLIES, ROWS / 2, 0);
				Shell shell = new Shell(this.folder, killed.service().port());
				String answer = shell.run(next.next());
				assertThat(answer).contains("HTTP/1.1 202").contains("Location: /v1/jobs/");
				id = json(answer.substring(answer.indexOf('{'))).get("jobId").asString();
				Path line = this.folder.resolve("line");
				Process watch = shell.start(of(id, next.next()).replaceFirst(" &$", ""), line);
				half.get(10, TimeUnit.MINUTES);
				await()
					.until(() -> Shell.text(line).matches("(?s).*running   [4-6][0-9]\\.[0-9] %  [0-9,]+ records .*"));
				// Others hear of it a little later.
				String known = "/v1/jobs/" + id;
				await().until(() -> Answer.counts(living.service().get(known).json()).applied() > 0);
				assertThat(next.next()).startsWith("sleep 3; kill -9 ");
				killed.kill();
				assertThat(watch.waitFor()).as("curl tells of a transfer that broke off").isEqualTo(18);
			}
			proxy.heal();
			Service replica = living.service();
			await().until(() -> state(replica, "/v1/jobs/" + id).equals("interrupted"));
			assertThat(Answer.counts(replica.get("/v1/jobs/" + id).json()).applied()).as("what others know of it")
				.isBetween(1L, redis.dbsize());
			replica.post("/v1/jobs/" + id + "/resume").refusal(409, "held-elsewhere");
			assertThat(next.next()).startsWith("java -jar target/pipeset-1.0.0.jar");
			try (Replica started = next(proxy)) {
				Shell shell = new Shell(this.folder, started.service().port());
				await().until(() -> !state(started.service(), "/v1/jobs/" + id).equals("interrupted"));
				assertThat(shell.run(of(id, next.next()))).contains("  %,d records in ".formatted(ROWS), " rejected  ");
				Counts after = Answer.counts(started.service().get("/v1/jobs/" + id).json());
				assertThat(after.applied()).isEqualTo(ROWS - taken.length);
				// Those on their way at the kill may have run before they were refused.
				assertThat(after.rejected() + after.unknown()).isEqualTo(taken.length);
				assertThat(after.rejected()).isPositive();
				shell.run(of(id, next.next()));
				try (Stream<String> failed = Files.lines(this.folder.resolve("failed.ndjson"))) {
					assertThat(failed.filter((item) -> item.contains("WRONGTYPE")).count()).isEqualTo(taken.length);
				}
				redis.del(taken);
				JsonNode report = json(shell.run(of(id, next.next())));
				assertThat(Answer.counts(report)).isEqualTo(new Counts(taken.length, taken.length, 0, 0, 0, 0));
				assertThat(next.hasNext()).isFalse();
				assertThat(redis.dbsize()).isEqualTo(ROWS + 1);
				assertThat(redis.hget(key(ROWS - 1), "name")).isEqualTo(row(ROWS - 1).split(",", -1)[1]);
				assertThat(state(started.service(), waits)).isEqualTo("queued");
			}
			assertThat(state(living.service(), waits)).as("the job of a process that lives").isEqualTo("queued");
		}
	}

	private void writeFile() throws Exception {
		try (InputStream rows = Lines.of(ROWS + 1, (i) -> (i == 0) ? "sku,name,price" : row(i - 1))) {
			Files.copy(rows, this.folder.resolve("products.csv"));
		}
	}

	private static String row(long row) {
		return "A-%07d,Product %07d of a catalogue that is far too long,%d.90".formatted(row, row, row % 1000);
	}

	private static String key(long row) {
		return "product:" + row(row).split(",", 2)[0];
	}

	private static String of(String id, String command) {
		return command.replace("{id}", id);
	}

	private JsonNode json(String text) {
		return this.mapper.readTree(text);
	}

	private ServiceProcess start(String... more) throws Exception {
		return ServiceProcess.start(TestRedis.shared(),
				Stream.concat(settings().map((setting) -> "--" + setting), Stream.of(more)).toArray(String[]::new));
	}

	/** The one that is started last, which needs no process of its own. */
	private Replica next(FaultProxy proxy) {
		return Replica.start(TestRedis.shared(), TestRedis.shared().properties(),
				Stream.concat(settings(), Stream.of("pipeset.jobs.resume=auto", LIVES, PORT + proxy.port()))
					.toArray(String[]::new));
	}

	private Stream<String> settings() {
		return Stream.of("pipeset.spool.directory=" + this.folder.resolve("spool"), "spring.data.redis.host=127.0.0.1",
				"pipeset.limits.max-running-jobs=1");
	}

	/** Has a job run that never ends, and another wait for it. */
	private static String waiting(Service service) {
		String first = send(service, "[\"SET\",\"waits\",\"1\"]\n".repeat(1000));
		await().until(() -> state(service, first).equals("running"));
		return send(service, "[\"SET\",\"waits\",\"1\"]\n");
	}

	private static String send(Service service, String body) {
		Answer taken = service.send(service.request("/v1/jobs?rateLimit=1")
			.header("Prefer", "respond-async")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(body)));
		assertThat(taken.status()).as(taken.text()).isEqualTo(202);
		return taken.header("Location");
	}

	private static String state(Service service, String location) {
		return service.get(location).json().get("state").asString();
	}

}
