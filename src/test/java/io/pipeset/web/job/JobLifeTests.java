package io.pipeset.web.job;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.RedisIdentity;
import io.pipeset.service.Answer;
import io.pipeset.service.LeftSpool;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What was accepted ends, or stays. The table: where a job is, how its process ends, and
 * what a caller had asked for by then. A job whose DELETE was answered is cancelled; one
 * that had ended is known with its items; each other one is there whole for the next
 * process, with the pace that was asked for.
 */
@ProcessTest
class JobLifeTests {

	/** At one a second, none of the jobs ends by itself before the process. */
	private static final int RECORDS = 400;

	private static final String PACE = "7";

	private static final TestRedis redis = TestRedis.shared();

	private static final TestRedis control = TestRedis.start();

	/** The way to the data, which all processes name alike. */
	private static final FaultProxy data = FaultProxy.open(redis);

	private static ServiceProcess other;

	@TempDir
	Path spools;

	@BeforeAll
	static void startOther(@TempDir Path spool) throws Exception {
		other = start(control.port(), spool);
	}

	@AfterAll
	static void end() {
		other.close();
		data.close();
		control.close();
	}

	@ParameterizedTest
	@EnumSource
	void eachJobIsFoundAsItsCallersLeftIt(End end) throws Exception {
		redis.client().flushall();
		control.client().flushall();
		LeftSpool left = new LeftSpool(this.spools.resolve("spool"),
				RedisIdentity.of(Stream.of(RedisIdentity.address("127.0.0.1", data.port())), "0"));
		Map<Asked, String> resumed = new EnumMap<>(Asked.class);
		for (Asked asked : Asked.values()) {
			resumed.put(asked,
					left.job("\"rateLimit\":[\"1\"],\"timeout\":[\"5s\"]", "NDJSON", false, null,
							records("resumed-" + asked).getBytes(StandardCharsets.UTF_8),
							LeftSpool.outcomes(LeftSpool.APPLIED, 1, 0, RECORDS - 3, LeftSpool.SENT, 2)));
		}
		try (FaultProxy way = FaultProxy.open(control); ServiceProcess process = start(way.port(), left.base())) {
			List<Job> jobs = new ArrayList<>();
			List<Wire> bodies = new ArrayList<>();
			Service service = process.service();
			for (Asked asked : Asked.values()) {
				assertThat(service.post("/v1/jobs/" + resumed.get(asked) + "/resume").status()).isEqualTo(202);
				jobs.add(new Job(resumed.get(asked), "resumed-" + asked, Place.RESUMED, asked));
				jobs.add(new Job(accepted(service, "running-" + asked), "running-" + asked, Place.RUNNING, asked));
			}
			// A record of each is written, so that Redis has something to be silent
			// about.
			jobs.forEach((job) -> await().until(() -> applied(service, job.id) > 0));
			for (Asked asked : Asked.values()) {
				jobs.add(new Job(accepted(service, "waiting-" + asked), "waiting-" + asked, Place.WAITING, asked));
				bodies.add(unfinished(service, asked, jobs));
			}
			jobs.forEach((job) -> await().untilAsserted(
					() -> assertThat(other.service().get(job.location()).status()).as(job.toString()).isEqualTo(200)));
			jobs.forEach((job) -> ask(job, service, Asked.DELETE_HERE, Asked.PATCH_HERE));
			// From here on the process neither writes a record nor hears of a request.
			way.stopAll();
			jobs.forEach((job) -> ask(job, service, Asked.DELETE_ELSEWHERE, Asked.PATCH_ELSEWHERE));
			jobs.add(new Job(ended(service, ""), "ended", Place.ENDED, Asked.NOTHING));
			jobs.add(new Job(ended(service, "\nbad\n"), "ended-bad", Place.ENDED, Asked.NOTHING));
			end.ends(process);
			for (Wire body : bodies) {
				body.close();
			}
			data.heal();
			way.heal();
			try (ServiceProcess next = start(control.port(), left.base())) {
				for (Job job : jobs) {
					find(job, end, next.service());
				}
			}
		}
	}

	/** Nobody is sent to an instance that cannot help. */
	@Test
	void aJobWhoseFilesAreBrokenHasFailedAndSaysWhy() throws Exception {
		LeftSpool left = new LeftSpool(this.spools.resolve("spool"),
				RedisIdentity.of(Stream.of(RedisIdentity.address("127.0.0.1", data.port())), "0"));
		String id;
		try (ServiceProcess process = start(control.port(), left.base())) {
			id = accepted(process.service(), "broken");
			process.kill();
		}
		try (Stream<Path> files = Files.walk(left.base())) {
			Files.writeString(files.filter((file) -> file.endsWith(id + ".body")).findFirst().orElseThrow(), "[");
		}
		try (ServiceProcess next = start(control.port(), left.base())) {
			for (Service service : List.of(next.service(), other.service())) {
				await().untilAsserted(() -> assertThat(service.get("/v1/jobs/" + id).json().get("state").asString())
					.isEqualTo("failed"));
				assertThat(service.get("/v1/jobs/" + id).json().at("/ending/detail").asString())
					.contains("its body is incomplete", "post the file again");
				assertThat(service.get("/v1/jobs/" + id + "/items").refusal(410, "gone")).contains("incomplete");
				assertThat(service.post("/v1/jobs/" + id + "/resume").refusal(410, "gone")).contains("incomplete");
				service.delete("/v1/jobs/" + id).refusal(409, "ended");
			}
		}
	}

	@Test
	void aDeadInstanceIsNoDeadEnd() throws Exception {
		LeftSpool left = new LeftSpool(this.spools.resolve("spool"),
				RedisIdentity.of(Stream.of(RedisIdentity.address("127.0.0.1", data.port())), "0"));
		String location;
		try (ServiceProcess process = start(control.port(), left.base())) {
			location = "/v1/jobs/" + accepted(process.service(), "dead");
			process.kill();
		}
		Service service = other.service();
		await().until(() -> service.get(location).json().get("state").asString().equals("interrupted"));
		for (Answer answer : List.of(service.get(location + "/items"), service.post(location + "/resume"))) {
			assertThat(answer.refusal(409, "held-elsewhere")).contains("has ended", "pipeset.spool.directory",
					"send the request again");
		}
		assertThat(service.delete(location).json().get("state").asString()).isEqualTo("cancelled");
		assertThat(service.get(location).json().get("state").asString()).isEqualTo("cancelled");
		try (ServiceProcess next = start(control.port(), left.base())) {
			next.service().post(location + "/resume").refusal(409, "not-interrupted");
			await().until(() -> next.service().get(location).json().get("state").asString().equals("cancelled"));
			assertThat(next.service().get(location + "/items").text().lines()).isNotEmpty();
		}
	}

	private static void ask(Job job, Service here, Asked... now) {
		if (!List.of(now).contains(job.asked)) {
			return;
		}
		Answer answer = switch (job.asked) {
			case NOTHING -> throw new IllegalStateException();
			case DELETE_HERE -> here.delete(job.location());
			case DELETE_ELSEWHERE -> other.service().delete(job.location());
			case PATCH_HERE -> here.patch(job.location() + "?rateLimit=" + PACE);
			case PATCH_ELSEWHERE -> other.service().patch(job.location() + "?rateLimit=" + PACE);
		};
		assertThat(answer.status()).as(job + answer.text()).isIn(200, 202);
	}

	private static void find(Job job, End end, Service service) {
		Answer answer = service.get(job.location());
		assertThat(answer.status()).as(job + answer.text()).isEqualTo(200);
		await().untilAsserted(
				() -> assertThat(state(other.service(), job)).as(job.toString()).isEqualTo(state(service, job)));
		JsonNode look = answer.json();
		if (job.place == Place.ENDED) {
			assertThat(look.get("state").asString()).as(job + look.toString()).isEqualTo("completed");
			assertThat(Answer.counts(look).applied()).isEqualTo(1);
			Answer items = service.get(job.location() + "/items");
			if (job.name.endsWith("bad")) {
				assertThat(items.text().lines()).as(job + items.text()).hasSize(1);
			}
			else {
				assertThat(items.text()).isEmpty();
			}
		}
		else if (job.asked == Asked.DELETE_HERE || job.asked == Asked.DELETE_ELSEWHERE) {
			await().untilAsserted(() -> assertThat(state(service, job)).as(job.toString()).isEqualTo("cancelled"));
			assertThat(service.post(job.location() + "/resume").status()).isEqualTo(409);
			assertThat(redis.client().exists(job.name + (RECORDS - 1))).isZero();
		}
		else if (job.place == Place.BODY) {
			// It was never accepted. The next process finds what a killed process has
			// received; otherwise its lease tells.
			await().untilAsserted(() -> assertThat(state(service, job)).as(job.toString())
				.isEqualTo((end == End.KILL) ? "failed" : "interrupted"));
			assertThat(redis.client().exists(job.name + 0)).isZero();
		}
		else {
			assertThat(state(service, job)).as(job + look.toString()).isEqualTo("interrupted");
			goesOn(job, service);
		}
		await().untilAsserted(
				() -> assertThat(state(other.service(), job)).as(job.toString()).isEqualTo(state(service, job)));
	}

	private static void goesOn(Job job, Service service) {
		Answer answer = service.post(job.location() + "/resume");
		assertThat(answer.status()).as(job + answer.text()).isEqualTo(202);
		assertThat(service.get(job.location()).json().at("/settings/rateLimit").asString()).as(job.toString())
			.isEqualTo((job.asked == Asked.NOTHING) ? "1" : PACE);
		assertThat(service.patch(job.location() + "?rateLimit=none").status()).isEqualTo(200);
		await().untilAsserted(() -> assertThat(state(service, job)).isEqualTo("completed"));
		List<String> keys = IntStream.range((job.place == Place.RESUMED) ? 1 : 0, RECORDS)
			.mapToObj((i) -> job.name + i)
			.toList();
		assertThat(redis.client().exists(keys.toArray(String[]::new))).as(job.toString()).isEqualTo(keys.size());
	}

	private static String state(Service service, Job job) {
		return service.get(job.location()).json().get("state").asString();
	}

	private static long applied(Service service, String id) {
		return Answer.counts(service.get("/v1/jobs/" + id).json()).applied();
	}

	private static String accepted(Service service, String name) {
		return id(service.send(service.request("/v1/jobs?rateLimit=1&timeout=5s")
			.header("Prefer", "respond-async")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString(records(name)))));
	}

	private static String ended(Service service, String more) {
		String id = id(service.send(service.request("/v1/jobs")
			.header("Prefer", "respond-async")
			.header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString("[\"SET\",\"ended\",\"v\"]" + more))));
		await().until(() -> service.get("/v1/jobs/" + id).json().get("state").asString().equals("completed"));
		return id;
	}

	private static String id(Answer taken) {
		assertThat(taken.status()).as(taken.text()).isEqualTo(202);
		return taken.json().get("jobId").asString();
	}

	/** Begins an upload that does not end, and adds its job once others know it. */
	private static Wire unfinished(Service service, Asked asked, List<Job> jobs) throws Exception {
		List<String> known = listed();
		Wire wire = Wire
			.post(service, "/v1/jobs", "Prefer: respond-async", "Content-Type: " + Service.NDJSON,
					"Idempotency-Key: " + asked, "Transfer-Encoding: chunked")
			.chunk(records("body-" + asked));
		List<String> more = new ArrayList<>();
		await().until(() -> {
			more.addAll(listed());
			return more.removeAll(known) && !more.isEmpty();
		});
		jobs.add(new Job(more.get(0), "body-" + asked, Place.BODY, asked));
		return wire;
	}

	private static List<String> listed() {
		return other.service().get("/v1/jobs?limit=1000").json().get("jobs").findValuesAsString("jobId");
	}

	private static String records(String name) {
		return IntStream.range(0, RECORDS)
			.mapToObj((i) -> "[\"SET\",\"" + name + i + "\",\"v\"]\n")
			.collect(Collectors.joining());
	}

	private static ServiceProcess start(int controlPort, Path spool) throws Exception {
		Map<String, String> properties = new HashMap<>(control.controlProperties());
		properties.put("pipeset.control.host", "127.0.0.1");
		properties.put("pipeset.control.port", Integer.toString(controlPort));
		properties.put("pipeset.control.timeout", "1s");
		properties.put("spring.data.redis.host", "127.0.0.1");
		properties.put("spring.data.redis.port", Integer.toString(data.port()));
		properties.put("pipeset.spool.directory", spool.toString());
		properties.put("pipeset.jobs.lease", "10s");
		// One of them is for small jobs.
		properties.put("pipeset.limits.max-running-jobs", Integer.toString(2 * Asked.values().length + 1));
		properties.put("pipeset.limits.max-async-jobs", "64");
		properties.put("pipeset.limits.shutdown-grace", "1s");
		return ServiceProcess.start(redis,
				properties.entrySet()
					.stream()
					.map((property) -> "--" + property.getKey() + "=" + property.getValue())
					.toArray(String[]::new));
	}

	private enum Place {

		BODY, WAITING, RUNNING, RESUMED, ENDED

	}

	private enum Asked {

		NOTHING, DELETE_HERE, DELETE_ELSEWHERE, PATCH_HERE, PATCH_ELSEWHERE

	}

	/** The control Redis is frozen in all of them. */
	private enum End {

		KILL, TERMINATE, TERMINATE_WHILE_REDIS_STANDS_STILL;

		private void ends(ServiceProcess process) throws Exception {
			if (this == KILL) {
				process.kill();
				return;
			}
			if (this == TERMINATE_WHILE_REDIS_STANDS_STILL) {
				data.stopAll();
			}
			process.terminate();
			process.awaitEnd();
		}

	}

	private record Job(String id, String name, Place place, Asked asked) {

		private String location() {
			return "/v1/jobs/" + this.id;
		}

	}

}
