package io.pipeset.web.setting;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.engine.pipeline.OpenConnections;
import io.pipeset.engine.pipeline.ServerGains;
import io.pipeset.engine.slab.Coalescing;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Neighbouring records go as one command, and neither the report nor the data shows it.
 * {@code -Dcampaign.seeds=1000} compares so many random jobs, {@code -Dcampaign.seed=7}
 * one again.
 */
@ServiceTest(properties = "pipeset.limits.max-items=100000")
class CoalescingTests {

	private static final int SEEDS = 40;

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start().as("loader");

	private static final TestRedis redis = own.redis();

	private final Service service;

	private final OpenConnections.Count connections;

	CoalescingTests(Service service, @Autowired OpenConnections.Count connections) {
		this.service = service;
		this.connections = connections;
	}

	@BeforeEach
	void begin() {
		redis.client().configSet("maxmemory", "0");
		own.permitAll();
		redis.client().flushall();
		// A connection that has met refusals remembers them.
		this.connections.kill(redis);
	}

	static LongStream seeds() {
		Long one = Long.getLong("campaign.seed");
		return (one != null) ? LongStream.of(one)
				: LongStream.rangeClosed(1, Integer.getInteger("campaign.seeds", SEEDS));
	}

	@ParameterizedTest(name = "seed {0}")
	@MethodSource("seeds")
	void reportAndDataAreThoseOfSendingEachRecordByItself(long seed) {
		Random random = new Random(seed * 0x9E3779B97F4A7C15L);
		List<String> records = records(random);
		String settings = settings(random);
		User user = User.values()[random.nextInt(User.values().length)];
		user.permit();
		Ran alone = run(records, settings + "&coalesce=off");
		Ran together = run(records, settings + "&coalesce=auto");
		assertThat(together.report).as(settings).isEqualTo(alone.report);
		assertThat(together.data).as(settings).isEqualTo(alone.data);
		assertThat(together.commandsSent).isLessThanOrEqualTo(alone.commandsSent);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			/listinput/l?count=250&        | 250  | 3
			/pipehset/100?                 | 100  | 100
			/pipeset/1000?flush=each&      | 1000 | 1000
			/pipeset/1000?coalesce=off&    | 1000 | 1000
			""")
	void sendsFewerCommandsThanRecords(String call, int records, int commands) {
		JsonNode report = this.service.post(call + "results=errors").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		assertThat(report.get("commandsSent").asInt()).isEqualTo(commands);
	}

	@ParameterizedTest
	@CsvSource({ "/pipeset/1000?, 10, true", "/pipeset/1000?ttl=60&, 10, false",
			"/pipeset/1000?atomic=batch&batchSize=250&, 12, true",
			"/pipeset/1000?ttl=60&atomic=batch&batchSize=250&, 12, false" })
	void setsGoAsOneCommandWhereThatPays(String call, int together, boolean plain) {
		Coalescing allowed = ServerGains.of(redis);
		JsonNode report = this.service.post(call + "results=errors").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1000, 1000, 0, 0, 0, 0));
		assertThat(report.get("commandsSent").asInt())
			.isEqualTo(((plain) ? allowed.sets() : allowed.expiringSets()) ? together : 1000);
		assertThat(redis.client().dbsize()).isEqualTo(1000);
		for (String key : new String[] { "keyA00000", "keyA00057", "keyA00999" }) {
			assertThat(redis.client().get(key)).isEqualTo("value-" + key.substring(4));
			if (plain) {
				assertThat(redis.client().ttl(key)).isEqualTo(-1);
			}
			else {
				assertThat(redis.client().ttl(key)).isBetween(1L, 60L);
			}
		}
	}

	@Test
	void anMsetexThatRedisNoLongerPermitsIsTakenApart() {
		redis.assumeKnown("MSETEX");
		this.service.post("/pipeset/1000?ttl=60").report();
		own.forbid(CommandType.MSETEX);
		redis.client().flushall();
		JsonNode report = this.service.post("/pipeset/3000?ttl=60").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3000, 3000, 0, 0, 0, 0));
		assertThat(redis.client().dbsize()).isEqualTo(3000);
		assertThat(redis.client().ttl("keyA02999")).isBetween(1L, 60L);
		// The connection has learnt it, for MSETEX alone.
		assertThat(this.service.post("/pipeset/1000?ttl=60").report().get("commandsSent").asInt()).isEqualTo(1000);
		assertThat(this.service.post("/pipeset/1000").report().get("commandsSent").asInt())
			.isEqualTo((ServerGains.of(redis).sets()) ? 10 : 1000);
	}

	@Test
	void popsInOneCommandAndMovesInOneScript() {
		this.service.post("/listinput/mylist9?count=250").report();
		redis.client().configResetstat();
		JsonNode popped = this.service.post("/piperpop/120").report();
		assertThat(popped.get("values")).hasSize(120);
		// The first ones go alone, as the size of the values is not known yet.
		assertThat(popped.get("commandsSent").asInt()).isLessThan(20);
		JsonNode moved = this.service.post("/piperpop/200?reliable=true").report();
		assertThat(moved.get("values")).hasSize(130);
		assertThat(Answer.counts(moved)).isEqualTo(new Counts(200, 130, 70, 0, 0, 0));
		assertThat(moved.get("commandsSent").asInt()).isLessThan(30);
		assertThat(moved.at("/values/0").asString()).isEqualTo("value-00120");
		assertThat(redis.client().llen("mylist9")).isZero();
		assertThat(redis.client().llen("pipeset:pop:" + moved.get("jobId").asString())).isEqualTo(130);
	}

	@Test
	void countsRecordsAndCommandsInTheMeters() {
		double sent = meter("pipeset.commands");
		double records = meter("pipeset.records?tag=op:LPUSH&tag=outcome:applied");
		this.service.post("/listinput/l?count=1000").report();
		assertThat(meter("pipeset.commands") - sent).isEqualTo(10);
		assertThat(meter("pipeset.records?tag=op:LPUSH&tag=outcome:applied") - records).isEqualTo(1000);
	}

	@Test
	void aCommandThatRedisNoLongerPermitsIsTakenApart() {
		this.service.post("/pipeset/1000").report();
		own.forbid(CommandType.MSET);
		redis.client().flushall();
		JsonNode report = this.service.post("/pipeset/3000").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3000, 3000, 0, 0, 0, 0));
		assertThat(redis.client().dbsize()).isEqualTo(3000);
		// The connection has learnt it.
		assertThat(this.service.post("/pipeset/1000").report().get("commandsSent").asInt()).isEqualTo(1000);
	}

	private double meter(String name) {
		Answer answer = this.service.get("/actuator/metrics/" + name);
		return (answer.status() == 404) ? 0 : answer.json().at("/measurements/0/value").asDouble();
	}

	private Ran run(List<String> records, String settings) {
		prepare();
		JsonNode answer = this.service.ndjson("/v1/jobs?" + settings, records.toArray(String[]::new)).json();
		JsonNode report = (answer.has("job")) ? answer.get("job") : answer;
		return new Ran(
				report.get("state") + " " + report.get("counts") + "\n"
						+ report.get("items").toString().replace("},{", "},\n{"),
				report.get("commandsSent").asLong(), data());
	}

	private static void prepare() {
		RedisCommands<String, String> commands = redis.client();
		commands.flushall();
		for (int i = 0; i < 60; i++) {
			commands.rpush("l:0", "old" + i);
			commands.rpush("o:l:1", "old" + i);
		}
		commands.set("l:9", "a string in the way of lists");
		commands.rpush("s:9", "a list in the way of sets");
		commands.set("z:9", "a string in the way of sorted sets");
		commands.set("h:9", "a string in the way of hashes");
		commands.set("p:9", "a string in the way of counts");
		commands.sadd("s:0", "a", "b", "c");
	}

	private static Map<String, Object> data() {
		RedisCommands<String, String> commands = redis.client();
		Map<String, Object> data = new TreeMap<>();
		for (String key : commands.keys("*")) {
			data.put(key, switch (commands.type(key)) {
				case "list" -> commands.lrange(key, 0, -1);
				case "set" -> new TreeSet<>(commands.smembers(key));
				case "zset" -> commands.zrangeWithScores(key, 0, -1);
				case "hash" -> new TreeMap<>(commands.hgetall(key));
				default -> (key.startsWith("p:") && !key.endsWith("9")) ? commands.pfcount(key) : commands.get(key);
			});
			data.put(key + " expires", commands.pexpiretime(key));
		}
		return data;
	}

	private static List<String> records(Random random) {
		int count = 1 + random.nextInt(400);
		List<String> records = new ArrayList<>();
		while (records.size() < count) {
			int burst = (random.nextInt(20) == 0) ? 150 : 1 + random.nextInt(6);
			int operation = random.nextInt(20);
			String owner = (random.nextInt(8) == 0) ? "o:" : "";
			int key = (random.nextInt(12) == 0) ? 9 : random.nextInt(3);
			for (int i = 0; i < burst; i++) {
				records.add(record(random, operation, owner, key));
			}
		}
		return records;
	}

	private static String record(Random random, int operation, String owner, int key) {
		String value = (random.nextInt(40) == 0) ? "v".repeat(20_000) : "v" + random.nextInt(30);
		String other = "v" + random.nextInt(30);
		return switch (operation) {
			case 0, 1 -> words("SET", owner + "k:" + random.nextInt(6), value);
			case 18, 19 -> words("SET", owner + "k:" + random.nextInt(6), value,
					(random.nextInt(9) > 0) ? "EXAT" : "PXAT", "3317711742" + random.nextInt(10) / 9);
			case 2 -> (random.nextInt(3) == 0) ? words("SET", owner + "k:" + random.nextInt(3), value, "NX")
					: words("SET", owner + "k:" + random.nextInt(3), value);
			case 3 -> words("LPUSH", owner + "l:" + key, value);
			case 4 -> (random.nextInt(2) == 0) ? words("RPUSH", owner + "l:" + key, value, other)
					: words("RPUSH", owner + "l:" + key, value);
			case 5, 6 -> words("RPOP", owner + "l:" + key);
			case 7 -> words("LPOP", owner + "l:" + key);
			case 8 -> words("RPOP", owner + "l:" + key, Integer.toString(random.nextInt(3)));
			case 9 -> words("SADD", owner + "s:" + key, value, other);
			case 10 -> words("SREM", owner + "s:" + key, value);
			case 11 -> words("HSET", owner + "h:" + key, other, value);
			case 12 -> words("HDEL", owner + "h:" + key, other);
			case 13 -> words("ZADD", owner + "z:" + key,
					(random.nextInt(15) == 0) ? "no number" : random.nextInt(9) - 4 + ".5", other);
			case 14 -> words("ZREM", owner + "z:" + key, other);
			case 15 -> words("PFADD", owner + "p:" + key, value);
			case 16 -> words("DEL", owner + List.of("k:", "s:", "l:", "h:").get(random.nextInt(4)) + random.nextInt(3));
			default -> words("UNLINK", owner + "k:" + random.nextInt(6));
		};
	}

	private static String words(String... words) {
		return "[\"" + String.join("\",\"", words) + "\"]";
	}

	private static String settings(Random random) {
		return "results=" + List.of("all", "errors").get(random.nextInt(2)) + "&batchSize="
				+ List.of(7, 50, 1000).get(random.nextInt(3)) + "&flush="
				+ List.of("close", "buffered:3", "buffered:120", "buffered:1000").get(random.nextInt(4))
				+ "&concurrency=" + List.of(1, 1, 2, 4).get(random.nextInt(4))
				+ ((random.nextInt(4) == 0) ? "&atomic=batch" : "");
	}

	/** What the service's user may do. */
	private enum User {

		ANYTHING {
			@Override
			void permit() {
				own.permitAll();
			}
		},

		SOME_KEYS {
			@Override
			void permit() {
				AclSetuserArgs rules = AclSetuserArgs.Builder.reset().allCommands();
				for (String pattern : List.of("k:*", "l:*", "s:*", "z:*", "h:*", "p:*", "pipeset:*")) {
					rules.keyPattern(pattern);
				}
				own.permit(rules);
			}
		},

		NO_MSET {
			@Override
			void permit() {
				own.permitAll();
				own.forbid(CommandType.MSET);
			}
		};

		abstract void permit();

	}

	private record Ran(String report, long commandsSent, Map<String, Object> data) {

	}

	/** Counts the service's connections. */
	@TestConfiguration(proxyBeanMethods = false)
	static class Connections extends OpenConnections {

	}

}
