package io.pipeset.web.cluster;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.lettuce.core.Range;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.PacedBody;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs random jobs of all kinds of records on a cluster while slots move key by key, and
 * the same records one by one on a plain Redis: outcomes, replies, values and data have
 * to be the same. Run by {@code mvn -Pcampaign verify}; {@code -Dcampaign.jobs=1000} runs
 * a thousand jobs, {@code -Dcampaign.job=7} repeats one.
 */
@NullUnmarked
@EnabledIfSystemProperty(named = "campaign.jobs", matches = ".+")
@ServiceTest(properties = { "pipeset.security.scripts=true", "pipeset.limits.max-items=1000000",
		"pipeset.limits.max-items-bytes=64MB" })
class ClusterDifferentialCampaignTests {

	static final TestCluster cluster = TestCluster.start(3, 0);

	private static final Logger logger = LoggerFactory.getLogger(ClusterDifferentialCampaignTests.class);

	private static final TestRedis oracle = TestRedis.start();

	private static final RedisClient client = RedisClient.create(oracle.uri());

	private static final StatefulRedisConnection<String, String> plain = client.connect();

	/** How many of each happened in all jobs. */
	private static final Map<String, Long> totals = new TreeMap<>();

	/** Errors by which a cluster says that it did not run a record. */
	private static final Set<String> REDIRECTIONS = Set.of("CLUSTERDOWN", "EXECABORT");

	private final Service service;

	ClusterDifferentialCampaignTests(Service service) {
		this.service = service;
	}

	@AfterAll
	static void close() {
		logger.info("All jobs together: {}", totals);
		client.shutdown();
		oracle.close();
		cluster.close();
		if (Integer.getInteger("campaign.jobs", 0) >= 20) {
			assertThat(totals).containsKeys("slots moved", "asked", "moved");
		}
	}

	static LongStream jobs() {
		Long one = Long.getLong("campaign.job");
		return (one != null) ? LongStream.of(one) : LongStream.rangeClosed(1, Integer.getInteger("campaign.jobs", 0));
	}

	@ParameterizedTest(name = "job {0}")
	@MethodSource("jobs")
	void aClusterDoesWhatOneRedisDoes(long seed) throws Exception {
		Random random = new Random(seed * 0x9E3779B97F4A7C15L);
		cluster.nodes().forEach((node) -> node.client().flushall());
		oracle.client().flushall();
		List<String> tags = IntStream.range(0, 1 + random.nextInt(12))
			.mapToObj((i) -> "{" + cluster.tag(random.nextInt(3), random.nextInt(20)) + "}")
			.distinct()
			.toList();
		List<List<String>> keys = tags.stream()
			.map((tag) -> IntStream.range(0, 1 + random.nextInt(6)).mapToObj((i) -> tag + i).toList())
			.toList();
		List<String> scripts = MixedRecord.SCRIPTS.stream().map(this::load).toList();
		prepare(keys.stream().flatMap(List::stream).toList(), random);
		List<MixedRecord> records = MixedRecord.draw(random, (int) (30 * Math.exp(random.nextDouble() * Math.log(400))),
				keys, scripts);
		String settings = settings(random, records.size());
		String picked = "job %d: %d records, %d slots, %s (-Dcampaign.job=%d)".formatted(seed, records.size(),
				tags.size(), settings, seed);
		double asked = retries("ask");
		double moved = retries("moved");
		Answer answer = run(records, settings, tags, random);
		assertThat(answer.status()).as("%s: %s", picked, answer.text()).isEqualTo(200);
		hold(picked, records, answer.report());
		assertThat(contents(cluster.owners(), keys)).as(picked).isEqualTo(contents(Map.of(), keys));
		count("asked", (long) (retries("ask") - asked));
		count("moved", (long) (retries("moved") - moved));
		count("records", records.size());
		logger.info("{}: no difference", picked);
	}

	private String load(String script) {
		String sha = this.service.post("/v1/scripts", "text/plain", script).json().at("/sha").asString();
		assertThat(oracle.client().scriptLoad(script)).isEqualTo(sha);
		return sha;
	}

	/** Half of the keys hold something, which is where their slot is. */
	private static void prepare(List<String> keys, Random random) {
		Map<Integer, TestRedis> owners = cluster.owners();
		for (String key : keys) {
			int draw = random.nextInt(8);
			for (RedisCommands<String, String> at : List.of(owners.get(TestCluster.slot(key)).client(),
					oracle.client())) {
				switch (draw) {
					case 0 -> at.set(key, "7");
					case 1 -> at.hset(key, Map.of("n", "1", "m0", "x"));
					case 2, 3 -> at.rpush(key, IntStream.range(0, 50).mapToObj((i) -> "e" + i).toArray(String[]::new));
					default -> {
					}
				}
			}
		}
	}

	private static String settings(Random random, int count) {
		int batchSize = List.of(5 + random.nextInt(20), 100, 1000, 100_000).get(random.nextInt(4));
		boolean atomic = batchSize <= 1000 && random.nextInt(4) == 0;
		return "timeout=30s&results=" + ((random.nextBoolean()) ? "all" : "errors") + "&batchSize="
				+ ((count > 3000) ? Math.max(batchSize, 100) : batchSize) + "&flush="
				+ List.of("each", "close", "buffered:" + (1 + random.nextInt(200)), "buffered:1000")
					.get(random.nextInt(4))
				+ "&concurrency=" + List.of(1, 1, 2, 4).get(random.nextInt(4)) + "&retries="
				+ List.of(0, 2).get(random.nextInt(2)) + ((random.nextInt(4) == 0) ? "&coalesce=off" : "")
				+ ((atomic) ? "&atomic=batch" : "");
	}

	/**
	 * Runs a job while its slots move. Each slot visits all masters, and none twice: a
	 * record that is redirected as its slot comes back may be rejected.
	 */
	private Answer run(List<MixedRecord> records, String settings, List<String> tags, Random random) throws Exception {
		byte[] body = records.stream()
			.map(MixedRecord::toJson)
			.collect(Collectors.joining("\n"))
			.getBytes(StandardCharsets.UTF_8);
		Random pace = new Random(random.nextLong());
		List<String> moves = new ArrayList<>(tags);
		moves.addAll(tags);
		Collections.shuffle(moves, random);
		CompletableFuture<Answer> job = this.service
			.sendAsync(this.service.uploading("/v1/jobs?" + settings, Service.NDJSON, new PacedBody(body, pace)));
		while (!job.isDone() && !moves.isEmpty()) {
			Set<String> some = new LinkedHashSet<>();
			for (int i = random.nextInt(3); i >= 0 && !moves.isEmpty() && !some.contains(moves.get(0)); i--) {
				some.add(moves.remove(0));
			}
			move(some, random);
		}
		return job.get(1, TimeUnit.MINUTES);
	}

	/** Moves slots one master further, key by key and side by side. */
	private static void move(Set<String> tags, Random random) {
		List<TestRedis> masters = IntStream.range(0, 3).mapToObj(cluster::master).toList();
		List<Move> moves = new ArrayList<>();
		for (String tag : tags) {
			TestRedis from = cluster.owner(TestCluster.slot(tag));
			moves.add(new Move(TestCluster.slot(tag), from, masters.get((masters.indexOf(from) + 1) % 3)));
		}
		for (Move move : moves) {
			cluster.begin(move.slot, move.from, move.to);
			pause(random);
		}
		while (!moves.isEmpty()) {
			Move move = moves.get(random.nextInt(moves.size()));
			List<String> keys = new ArrayList<>(move.from.client().clusterGetKeysInSlot(move.slot, 100));
			if (keys.isEmpty()) {
				cluster.end(move.slot, move.from, move.to);
				moves.remove(move);
				count("slots moved", 1);
			}
			else {
				Collections.shuffle(keys, random);
				cluster.migrate(move.from, move.to,
						keys.subList(0, 1 + random.nextInt(Math.min(2, keys.size()))).toArray(String[]::new));
			}
			pause(random);
		}
	}

	private static void pause(Random random) {
		LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(8000)));
	}

	/**
	 * Holds outcomes and replies against what the plain Redis answers. A record that the
	 * cluster could not run in its order is left out there: the docs say which may be.
	 */
	private static void hold(String picked, List<MixedRecord> records, JsonNode report) {
		Map<Integer, JsonNode> items = new HashMap<>();
		report.get("items").forEach((item) -> items.put(item.get("index").asInt(), item));
		assertThat(report.get("itemsOmitted").asInt()).as(picked).isZero();
		List<RedisFuture<Object>> replies = new ArrayList<>();
		for (int i = 0; i < records.size(); i++) {
			JsonNode item = items.get(i);
			String code = (item != null) ? item.at("/error/code").asString() : "";
			// A script in a transaction that has removed its key before.
			boolean keyIsGone = item != null && item.at("/error/message").asString().contains("a non local key");
			if (!REDIRECTIONS.contains(code) && !keyIsGone) {
				replies.add(dispatch(records.get(i)));
				continue;
			}
			replies.add(null);
			count("left out for " + code, 1);
			assertThat(records.get(i).keys() > 1 || picked.contains("atomic"))
				.as("%s: record %d, %s, is %s%s", picked, i, records.get(i), item, neighbours(records, i, items))
				.isTrue();
		}
		long applied = 0;
		long noop = 0;
		long removed = 0;
		for (int i = 0; i < records.size(); i++) {
			JsonNode item = items.get(i);
			String as = "%s: record %d, %s, is %s".formatted(picked, i, records.get(i), item)
					+ ((item != null && item.has("error")) ? neighbours(records, i, items) : "");
			String status = (item != null) ? item.get("status").asString() : "applied";
			if (replies.get(i) == null) {
				assertThat(status).as(as).isEqualTo("rejected");
				continue;
			}
			try {
				Object reply = replies.get(i).get(1, TimeUnit.MINUTES);
				boolean nothing = records.get(i).isNoop(reply);
				noop += (nothing) ? 1 : 0;
				applied += (nothing) ? 0 : 1;
				assertThat((item != null) ? status : (nothing) ? "noop" : "applied").as("%s, expected %s", as, reply)
					.isEqualTo((nothing) ? "noop" : "applied");
				boolean listed = item != null && (records.get(i).isPop() || picked.contains("results=all"));
				if (listed && records.get(i).isRemoval()) {
					// They may change places with each other.
					removed += (long) value(item.get("reply")) - (long) reply;
				}
				else if (listed) {
					assertThat(value(item.get("reply"))).as(as).isEqualTo(reply);
				}
				assertThat(item != null || !records.get(i).isPop() || nothing).as("%s, expected %s", as, reply)
					.isTrue();
			}
			catch (Exception ex) {
				assertThat(ex).as(as).hasCauseInstanceOf(RedisCommandExecutionException.class);
				String message = String.valueOf(ex.getCause().getMessage());
				assertThat(status).as("%s, expected %s", as, message).isEqualTo("rejected");
				assertThat(item.at("/error/code").asString()).as(as).isEqualTo(message.replaceFirst(" .*", ""));
			}
		}
		assertThat(removed).as("%s: keys removed more than expected", picked).isZero();
		Counts counts = Answer.counts(report);
		assertThat(counts).as(picked)
			.isEqualTo(new Counts(records.size(), applied, noop, records.size() - applied - noop, 0, 0));
	}

	/** The last records of its keys before a record, and the next ones. */
	private static String neighbours(List<MixedRecord> records, int index, Map<Integer, JsonNode> items) {
		return IntStream.range(Math.max(0, index - 100), Math.min(records.size(), index + 100))
			.filter((i) -> !Collections.disjoint(records.get(i).names(), records.get(index).names()))
			.mapToObj((i) -> "\n%d %s: %s".formatted(i, records.get(i),
					(items.containsKey(i)) ? items.get(i) : "applied"))
			.collect(Collectors.joining());
	}

	private static RedisFuture<Object> dispatch(MixedRecord sent) {
		if (sent.ttl() > 0) {
			List<String> arguments = new ArrayList<>(sent.words().subList(2, sent.words().size()));
			arguments.add(0, String.valueOf(sent.ttl()));
			return plain.async()
				.eval("local added = redis.call('HSET', KEYS[1], unpack(ARGV, 2)) redis.call('EXPIRE', KEYS[1], ARGV[1]) return added",
						ScriptOutputType.INTEGER, new String[] { sent.words().get(1) },
						arguments.toArray(String[]::new));
		}
		CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
		sent.words().stream().skip(1).forEach(args::add);
		return plain.async().dispatch(CommandType.valueOf(sent.operation()), new PlainReply(), args);
	}

	private static Object value(JsonNode reply) {
		if (reply == null || reply.isNull()) {
			return null;
		}
		if (reply.isArray()) {
			return reply.valueStream().map(ClusterDifferentialCampaignTests::value).toList();
		}
		return (reply.isNumber()) ? (Object) reply.asLong() : reply.asString();
	}

	/** The data at the masters of all slots, or at the oracle. */
	private static Map<String, String> contents(Map<Integer, TestRedis> owners, List<List<String>> keys) {
		Map<String, String> contents = new TreeMap<>();
		for (String key : keys.stream()
			.flatMap(List::stream)
			.flatMap((key) -> Stream.of(key, key + ":bits"))
			.toList()) {
			RedisCommands<String, String> at = owners.getOrDefault(TestCluster.slot(key), oracle).client();
			contents.put(key, content(at, key) + ((at.ttl(key) > 0) ? " expires" : ""));
		}
		return contents;
	}

	private static String content(RedisCommands<String, String> at, String key) {
		String type = at.type(key);
		return type + " " + switch (type) {
			case "string" -> (at.getrange(key, 0, 3).equals("HYLL")) ? at.pfcount(key) : at.get(key);
			case "list" -> at.lrange(key, 0, -1);
			case "hash" -> new TreeMap<>(at.hgetall(key));
			case "set" -> new TreeSet<>(at.smembers(key));
			case "zset" -> at.zrangeWithScores(key, 0, -1);
			case "stream" -> at.xrange(key, Range.unbounded());
			default -> "";
		};
	}

	private double retries(String reason) {
		Answer answer = this.service.get("/actuator/metrics/pipeset.retries?tag=reason:" + reason);
		return (answer.status() == 200) ? answer.json().at("/measurements/0/value").asDouble() : 0;
	}

	private static void count(String what, long more) {
		if (more > 0) {
			totals.merge(what, more, Long::sum);
		}
	}

	private record Move(int slot, TestRedis from, TestRedis to) {
	}

	/** A string, a number, a list of such, or nil. */
	private static final class PlainReply extends CommandOutput<String, String, Object> {

		private List<Object> list;

		PlainReply() {
			super(StringCodec.UTF8, null);
		}

		@Override
		public void set(ByteBuffer bytes) {
			add((bytes != null) ? this.codec.decodeValue(bytes) : null);
		}

		@Override
		public void set(long integer) {
			add(integer);
		}

		@Override
		public void multi(int count) {
			this.list = new ArrayList<>();
			this.output = this.list;
		}

		private void add(Object value) {
			if (this.list != null) {
				this.list.add(value);
			}
			else {
				this.output = value;
			}
		}

	}

}
