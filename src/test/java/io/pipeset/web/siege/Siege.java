package io.pipeset.web.siege;

import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.stream.IntStream;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Trickle;
import io.pipeset.service.Wire;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Attacks a service with many large jobs at once. The service survives, its answers add
 * up and agree with the data, and it serves the next job.
 */
final class Siege {

	private static final int MINUTES = 5;

	private static final String PUSH = """
			local value = string.rep('x', tonumber(ARGV[2]))
			for i = 1, tonumber(ARGV[1]) do redis.call('RPUSH', KEYS[1], value) end""";

	/** A record without the bracket that ends it. */
	private static final String SLOW_RECORD = "{\"key\":\"slow\",\"value\":\"v\"";

	private final ServiceProcess process;

	private final Service service;

	private final RedisCommands<String, String> redis;

	Siege(ServiceProcess process, TestRedis redis) {
		this.process = process;
		this.service = process.service();
		this.redis = redis.client();
	}

	/** Runs uploads of SETs with large values at once. */
	void uploads(int jobs, int records, int valueBytes, String query) {
		this.redis.flushall();
		List<CompletableFuture<Answer>> answers = IntStream.range(0, jobs)
			.mapToObj((job) -> upload(records, valueBytes, job, query))
			.toList();
		for (Answer answer : all(answers)) {
			assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		}
		assertThat(this.redis.dbsize()).isEqualTo((long) jobs * records);
		assertServes();
	}

	/** Runs uploads of records with very many arguments at once. */
	void manyArguments(int jobs, int records, int arguments) {
		this.redis.flushall();
		String line = "[\"SADD\",\"set\"" + ",1".repeat(arguments) + "]";
		List<CompletableFuture<Answer>> answers = IntStream.range(0, jobs)
			.mapToObj((job) -> send("", records, (i) -> line))
			.toList();
		for (Answer answer : all(answers)) {
			assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		}
		assertServes();
	}

	/** Runs pops at once. No value is lost, whether or not all fit. */
	void pops(int jobs, int values, int valueBytes, String count) {
		this.redis.flushall();
		List<String> lists = IntStream.range(0, jobs).mapToObj((job) -> "list" + job).toList();
		lists.forEach((list) -> push(list, values, valueBytes));
		List<CompletableFuture<Answer>> answers = lists.stream()
			.map((list) -> this.service.sendAsync(this.service.uploading("/v1/jobs", Service.NDJSON,
					Lines.of((count.isEmpty()) ? values : 1,
							(i) -> "[\"RPOP\",\"" + list + "\"" + ((count.isEmpty()) ? "" : "," + count) + "]"))))
			.toList();
		List<Answer> all = all(answers);
		for (int job = 0; job < jobs; job++) {
			assertPopped(all.get(job), lists.get(job), values);
		}
		assertServes();
	}

	/** Runs pops whose callers do not read their large answers. */
	void popsThatNobodyReads(int jobs, int values, int valueBytes) throws Exception {
		this.redis.flushall();
		List<Wire> wires = new ArrayList<>();
		try {
			for (int job = 0; job < jobs; job++) {
				push("list" + job, values, valueBytes);
				wires.add(Wire.post(this.service, "/piperpop/" + values + "?key=list" + job, "Content-Length: 0"));
			}
			assertServes();
			uploads(4, 300, 10_000, "");
		}
		finally {
			for (Wire wire : wires) {
				wire.close();
			}
		}
		assertServes();
	}

	/** Runs jobs whose reports list many records with large keys. */
	void largeKeysInReports(int jobs, int records, int keyBytes) {
		this.redis.flushall();
		String key = "k".repeat(keyBytes);
		List<CompletableFuture<Answer>> answers = IntStream.range(0, jobs)
			.mapToObj((job) -> send("?results=all", records, (i) -> "[\"DEL\",\"" + key + i + "\"]"))
			.toList();
		for (Answer answer : all(answers)) {
			assertThat(Answer.counts(answer.report())).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
			assertThat(answer.report().get("items").size() + answer.report().get("itemsOmitted").asInt())
				.isEqualTo(records);
		}
		assertServes();
	}

	/**
	 * Runs jobs of all kinds at once, as many as may run. Beside them there are callers
	 * that read no answers, idle connections, and uploads that come byte by byte, refused
	 * ones and honest ones.
	 */
	void everythingAtOnce(int idleConnections) throws Exception {
		this.redis.flushall();
		String set = "[\"SADD\",\"set\"" + ",1".repeat(131_000) + "]";
		String largeKey = "k".repeat(16_000);
		List<AutoCloseable> open = new ArrayList<>();
		try (Trickle trickle = new Trickle()) {
			for (int i = 0; i < 20; i++) {
				open.add(trickle.add(Wire.upload(this.service, "/v1/jobs?batchSize=0").chunk("[")));
			}
			Wire slow = trickle.add(Wire.upload(this.service, "/v1/jobs?op=SET").chunk(SLOW_RECORD));
			open.add(slow);
			for (int i = 0; i < idleConnections; i++) {
				open.add(new Socket(InetAddress.getLoopbackAddress(), this.service.port()));
			}
			for (int i = 0; i < 4; i++) {
				push("unread" + i, 3000, 10_000);
				push("list" + i, 3000, 10_000);
				open.add(Wire.post(this.service, "/piperpop/3000?key=unread" + i, "Content-Length: 0"));
			}
			List<CompletableFuture<Answer>> answers = new ArrayList<>();
			for (int job = 0; job < 14; job++) {
				answers.add(upload(600, 10_000, job, "&concurrency=4"));
				answers.add(upload(3000, 1000, 100 + job, "&flush=each&results=all"));
				answers.add(send("?results=all", 300, (i) -> "[\"DEL\",\"" + largeKey + i + "\"]"));
			}
			for (int job = 0; job < 6; job++) {
				answers.add(send("", 3, (i) -> set));
				answers.add(upload(3, 8_000_000, 200 + job, "&concurrency=16"));
			}
			List<CompletableFuture<Answer>> pops = IntStream.range(0, 4)
				.mapToObj((list) -> send("", 1, (i) -> "[\"RPOP\",\"list" + list + "\",3000]"))
				.toList();
			for (Answer answer : all(answers)) {
				Counts counts = Answer.counts(answer.report());
				assertThat(counts.applied()).isEqualTo(counts.received()).isPositive();
			}
			for (int list = 0; list < 4; list++) {
				assertPopped(all(pops).get(list), "list" + list, 3000);
			}
			assertThat(Answer.counts(trickle.remove(slow).chunk("}\n").lastChunk().answer().report()).applied())
				.isOne();
		}
		finally {
			for (AutoCloseable connection : open) {
				connection.close();
			}
		}
		assertServes();
	}

	private CompletableFuture<Answer> upload(int records, int valueBytes, int job, String query) {
		String value = "x".repeat(valueBytes);
		return send("?op=SET" + query, records,
				(i) -> "{\"key\":\"k" + job + ":" + i + "\",\"value\":\"" + value + "\"}");
	}

	private CompletableFuture<Answer> send(String query, int records, LongFunction<String> line) {
		return this.service
			.sendAsync(this.service.uploading("/v1/jobs" + query, Service.NDJSON, Lines.of(records, line)));
	}

	private void assertPopped(Answer answer, String list, int values) {
		AtomicLong popped = new AtomicLong();
		JsonNode report = (answer.status() == 200) ? answer.report() : answer.job(422, "stopped", "stopped");
		report.get("items")
			.forEach((item) -> popped.addAndGet((item.get("reply").isArray()) ? item.get("reply").size() : 1));
		assertThat(popped.get() + this.redis.llen(list)).as(answer.status() + " of " + list).isEqualTo(values);
	}

	/** Checks that the service is alive and healthy, and serves a job. */
	void assertServes() {
		assertThat(this.process.isAlive()).as("%s", this.process.output()).isTrue();
		assertThat(this.service.get("/actuator/health/liveness").status()).isEqualTo(200);
		assertThat(Answer.counts(this.service.post("/listinput/next?count=10").report()))
			.isEqualTo(new Counts(10, 10, 0, 0, 0, 0));
		this.redis.del("next");
	}

	private void push(String list, int values, int valueBytes) {
		push(this.redis, list, values, valueBytes);
	}

	/** Fills a list with equal values, which Redis makes itself. */
	static void push(RedisCommands<String, String> redis, String list, int values, int valueBytes) {
		redis.eval(PUSH, ScriptOutputType.STATUS, new String[] { list }, Integer.toString(values),
				Integer.toString(valueBytes));
	}

	private static List<Answer> all(List<CompletableFuture<Answer>> answers) {
		return answers.stream().map((answer) -> answer.orTimeout(MINUTES, TimeUnit.MINUTES).join()).toList();
	}

}
