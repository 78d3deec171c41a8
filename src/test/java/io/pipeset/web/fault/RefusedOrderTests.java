package io.pipeset.web.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two neighbours are told one thing, and the next two of their key another: what is sent
 * again, and in which order, is what {@code docs/reliability.md} says, whether neighbours
 * share a command or not.
 */
@ServiceTest
class RefusedOrderTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis
		.behindProxy("enable-debug-command yes", "rdbcompression no", "loading-process-events-interval-bytes 1024")
		.as("loader");

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private static final RedisClient client = RedisClient.create(redis.uri());

	private final Service service;

	RefusedOrderTests(Service service) {
		this.service = service;
	}

	@AfterAll
	static void close() {
		client.shutdown();
	}

	@BeforeEach
	void connect() {
		redis.client().flushall();
		own.permitAll();
		// A connection that has met refusals remembers them.
		redis.client().clientKill(KillArgs.Builder.user("loader"));
		this.service.connect();
		redis.client().flushall();
		redis.client().set("k", "old");
	}

	/** Redis is well again, if at all, between the two pairs. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			TRANSIENT DEL    | ANSWERED SET     | rejected rejected applied applied   | string
			TRANSIENT DEL    | REFUSED HSET     | applied applied applied applied     | hash
			TRANSIENT DEL    | TRANSIENT HSET   | applied applied applied applied     | hash
			TRANSIENT DEL    | LOST HSET        | applied applied applied applied     | hash
			TRANSIENT DEL    | LOST RPUSH       | rejected rejected unknown unknown   | string
			TRANSIENT HSET   | ANSWERED DEL     | rejected rejected applied applied   | none
			TRANSIENT HSET   | TRANSIENT DEL    | rejected rejected applied applied   | none
			TRANSIENT RPUSH  | REFUSED HSET     | rejected rejected rejected rejected | string
			TRANSIENT RPUSH  | LOST DEL         | rejected rejected applied applied   | none
			REFUSED HSET     | TRANSIENT DEL    | rejected rejected applied applied   | none
			REFUSED HSET     | LOST DEL         | rejected rejected applied applied   | none
			REFUSED HSET     | LOST RPUSH       | rejected rejected unknown unknown   | string
			ANSWERED DEL     | TRANSIENT HSET   | applied applied applied applied     | hash
			ANSWERED SET     | REFUSED HSET     | applied applied rejected rejected   | string
			ANSWERED DEL     | LOST RPUSH       | applied applied unknown unknown     | none
			""")
	void whatIsSentAgain(String earlier, String later, String outcomes, String type) throws Exception {
		for (Trouble trouble : Trouble.values()) {
			for (String coalesce : List.of("auto", "off")) {
				connect();
				String as = "%s then %s, %s, coalesce=%s".formatted(earlier, later, trouble, coalesce);
				JsonNode job = run(trouble, earlier.split(" "), later.split(" "), coalesce);
				assertThat(outcomes(job)).as(as).isEqualTo(outcomes);
				assertThat(redis.client().type("k")).as(as).isEqualTo(type);
				if (type.equals("hash")) {
					assertThat(redis.client().hgetall("k")).as(as).containsOnlyKeys("1", "2");
				}
			}
		}
	}

	private JsonNode run(Trouble trouble, String[] earlier, String[] later, String coalesce) throws Exception {
		List<String> records = new ArrayList<>();
		for (String operation : List.of(earlier[1], earlier[1], later[1], later[1])) {
			records.add(record(operation, records.size() % 2 + 1));
		}
		double retries = retries(trouble);
		CompletableFuture<ProxyLink> begin = proxy.stopAt(Way.COMMANDS, 0, 0);
		CompletableFuture<Answer> answer = this.service.sendAsync(
				this.service.uploading("/v1/jobs?flush=close&retries=3&timeout=1m&maxErrors=4&coalesce=" + coalesce,
						Service.NDJSON, Lines.of(4, (i) -> records.get((int) i))));
		ProxyLink link = begin.get(1, TimeUnit.MINUTES);
		boolean troubled = pass(trouble, earlier[0].equals("TRANSIENT"), false, link,
				(coalesce.equals("auto")) ? 1 : 2);
		if (later[0].equals("LOST")) {
			trouble.end(troubled);
			link.end();
		}
		else {
			boolean stays = later[0].equals("TRANSIENT");
			if (troubled != stays) {
				trouble.change(stays);
			}
			link.goOn();
			if (stays) {
				await().until(() -> answer.isDone() || retries(trouble) > retries);
			}
			trouble.end(stays);
		}
		Answer done = answer.get(1, TimeUnit.MINUTES);
		return (done.status() == 200) ? done.report() : done.json().get("job");
	}

	/** Lets some commands pass, and returns when their replies are on the way back. */
	private static boolean pass(Trouble trouble, boolean troubled, boolean before, ProxyLink link, int commands)
			throws Exception {
		if (troubled != before) {
			trouble.change(troubled);
		}
		int replies = link.replies() + commands;
		CompletableFuture<ProxyLink> next = proxy.stopAt(Way.COMMANDS, commands, 0);
		link.goOn();
		next.get(1, TimeUnit.MINUTES);
		await().until(() -> link.replies() == replies);
		return troubled;
	}

	private static String record(String operation, int number) {
		return switch (operation) {
			case "DEL" -> "[\"DEL\",\"k\"]";
			case "HSET" -> "[\"HSET\",\"k\",\"%d\",\"v\"]".formatted(number);
			default -> "[\"%s\",\"k\",\"%d\"]".formatted(operation, number);
		};
	}

	/** The outcomes of all records: those without an error are not listed. */
	static String outcomes(JsonNode job) {
		String[] outcomes = { "applied", "applied", "applied", "applied" };
		for (JsonNode item : job.get("items")) {
			outcomes[item.get("index").asInt()] = item.get("status").asString();
		}
		return String.join(" ", outcomes);
	}

	/** A user whose keys become fewer is refused what neighbours have in common. */
	@ParameterizedTest
	@ValueSource(strings = { "auto", "off" })
	void whatWasRefusedInCompanyIsSentAgainAheadOfWhatWasRefusedBehindIt(String coalesce) {
		redis.client().set("x", "old");
		own.permit(AclSetuserArgs.Builder.resetKeys().keyPattern("k"));
		JsonNode report = this.service
			.ndjson("/v1/jobs?coalesce=" + coalesce, record("DEL", 1), "[\"DEL\",\"x\"]", record("HSET", 1),
					record("HSET", 2), "[\"HSET\",\"x\",\"f\",\"v\"]")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(5, 3, 0, 2, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("NOPERM");
		assertThat(redis.client().hlen("k")).isEqualTo(2);
		assertThat(redis.client().get("x")).isEqualTo("old");
	}

	/** The one rejection that stays is as many as the job allows. */
	@Test
	void noRejectionIsCountedThatIsTakenBack() {
		own.permit(AclSetuserArgs.Builder.resetKeys().keyPattern("k"));
		JsonNode report = this.service
			.upload("/v1/jobs?maxErrors=1", Service.NDJSON,
					Lines.of(9, (i) -> (i == 1) ? "[\"DEL\",\"x\"]" : record((i < 3) ? "DEL" : "HSET", (int) i)))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(9, 8, 0, 1, 0, 0));
		assertThat(redis.client().hlen("k")).isEqualTo(6);
	}

	private double retries(Trouble trouble) {
		Answer answer = this.service.get("/actuator/metrics/pipeset.retries?tag=reason:" + trouble.reason);
		return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
	}

	private static boolean isServing() {
		try {
			redis.client().exists("k");
			return true;
		}
		catch (RedisCommandExecutionException ex) {
			return false;
		}
	}

	/** A state in which Redis runs nothing for a while. */
	private enum Trouble {

		BUSY("busy") {

			@Override
			void begin() {
				redis.client().configSet("busy-reply-threshold", "1");
				this.running = connection().async().eval("while true do end", ScriptOutputType.STATUS);
				await().until(() -> !isServing());
			}

			@Override
			void stop() {
				redis.client().scriptKill();
			}

		},

		LOADING("loading") {

			@Override
			void begin() {
				// 40 s at most, and 40 ms until a call is answered.
				redis.send("DEBUG", "POPULATE", "1000", "load", "1024");
				redis.client().configSet("key-load-delay", "40000");
				this.running = connection().async().debugReload();
				await().until(() -> !isServing());
			}

			@Override
			void stop() {
				redis.client().configSet("key-load-delay", "0");
			}

		};

		private final String reason;

		@Nullable RedisFuture<?> running;

		private @Nullable StatefulRedisConnection<String, String> connection;

		Trouble(String reason) {
			this.reason = reason;
		}

		StatefulRedisConnection<String, String> connection() {
			if (this.connection == null) {
				this.connection = client.connect();
			}
			return this.connection;
		}

		abstract void begin();

		abstract void stop();

		void change(boolean begins) {
			if (begins) {
				begin();
			}
			else {
				end(true);
			}
		}

		void end(boolean isThere) {
			if (isThere) {
				stop();
				await().until(() -> this.running.isDone() && isServing());
			}
		}

	}

}
