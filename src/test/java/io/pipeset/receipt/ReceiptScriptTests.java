package io.pipeset.receipt;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.LMoveArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.TestRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.pipeset.receipt.ReceiptRig.bytes;
import static io.pipeset.receipt.ReceiptRig.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * If Redis refuses any command within a step of a receipt, the reply still reports the
 * values that were moved, and sweepers find the rest.
 */
class ReceiptScriptTests {

	private static final String JOB = "0199a6f2-0000-7000-8000-00000000000e";

	private static final ReceiptKeys KEYS = ReceiptKeys.OF_SERVER;

	private static final String CLIENT = "none";

	private static final String QUEUE = "queue";

	private static final String USER = "service";

	private static final List<byte[]> SLOTS_KEYS = List.of(bytes("slots"), bytes("marks"));

	private static final List<String> VALUES = List.of("a", "b", "c", "d");

	private static final TestRedis server = TestRedis.start();

	private static final RedisCommands<String, String> redis = server.client();

	private static RedisClient client;

	private static RedisCommands<String, String> service;

	@BeforeAll
	static void logIn() {
		permit(AclSetuserArgs.Builder.reset().allKeys().allCommands());
		RedisURI uri = server.uri();
		client = RedisClient
			.create(RedisURI.builder(uri).withAuthentication(USER, "secret").withTimeout(uri.getTimeout()).build());
		service = client.connect().sync();
	}

	@AfterAll
	static void close() {
		client.shutdown();
		server.close();
	}

	@BeforeEach
	void empty() {
		redis.flushall();
	}

	@AfterEach
	void permitAll() {
		permit(AclSetuserArgs.Builder.allCommands());
		redis.configSet("maxmemory", "0");
	}

	private static void permit(AclSetuserArgs rules) {
		redis.aclSetuser(USER, rules.on().addPassword("secret"));
	}

	static Stream<Arguments> refusals() {
		return Stream.of(Step.values())
			.flatMap((step) -> Stream.concat(Stream.of("OOM", "WRONGTYPE"), step.commands())
				.map((refused) -> Arguments.of(step, refused)));
	}

	@ParameterizedTest(name = "{0} without {1}")
	@MethodSource("refusals")
	void noValueIsLostIfAnyCommandOfAStepIsRefused(Step step, String refused) {
		redis.rpush(QUEUE, VALUES.toArray(String[]::new));
		step.prepare();
		List<String> before = redis.lrange(QUEUE, 0, -1);
		refuse(refused);
		Object answer = step.run();
		goOn(refused);
		if (step == Step.ACK && List.of(1L).equals(answer)) {
			// The values belong to the caller.
			assertThat(redis.exists(popped())).isZero();
			giveBackAll();
			assertThat(redis.lrange(QUEUE, 0, -1)).isEqualTo(before);
		}
		else {
			step.goOn(answer);
			giveBackAll();
			assertThat(redis.lrange(QUEUE, 0, -1)).isEqualTo(VALUES);
		}
		redis.del(QUEUE, popped());
		assertThat(redis.keys("*")).isEmpty();
	}

	@ParameterizedTest(name = "{0} without {1}")
	@MethodSource("refusals")
	void aStepReportsTheValuesThatItMovedIfALaterCommandIsRefused(Step step, String refused) {
		redis.rpush(QUEUE, VALUES.toArray(String[]::new));
		step.prepare();
		long before = redis.llen(QUEUE);
		boolean had = redis.exists(popped()) + redis.exists(text(KEYS.returning(JOB))) > 0;
		refuse(refused);
		Object answer = step.run();
		goOn(refused);
		boolean has = redis.exists(popped()) + redis.exists(text(KEYS.returning(JOB))) > 0;
		if (redis.llen(QUEUE) > before) {
			assertThat(answer).isEqualTo(List.of(redis.llen(QUEUE) - before));
		}
		else if (had && !has) {
			assertThat(answer).isEqualTo(List.of(1L));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "ZADD", "HSET" })
	void aRefusedCheckDoesNotCountAsTheFirst(String refused) {
		redis.zadd("slots", 0, "5");
		redis.hset("marks", "5", "mark");
		refuse(refused);
		assertThat(eval(service, UsedSlots.STORE_CHECK, SLOTS_KEYS, 5, "mark", -1, 10_000)).isInstanceOf(String.class);
		goOn(refused);
		eval(service, UsedSlots.STORE_CHECK, SLOTS_KEYS, 5, redis.hget("marks", "5"), -1, 10_000);
		assertThat(redis.zscore("slots", "5")).isPositive();
	}

	private static void refuse(String refused) {
		switch (refused) {
			case "OOM" -> redis.configSet("maxmemory", "1");
			case "WRONGTYPE" -> {
				if (redis.exists(index()) == 1) {
					redis.rename(index(), "index");
				}
				redis.set(index(), "no sorted set");
			}
			default -> permit(AclSetuserArgs.Builder.removeCommand(CommandType.valueOf(refused)));
		}
	}

	private static void goOn(String refused) {
		permit(AclSetuserArgs.Builder.allCommands());
		redis.configSet("maxmemory", "0");
		if (refused.equals("WRONGTYPE")) {
			redis.del(index());
			if (redis.exists("index") == 1) {
				redis.rename("index", index());
			}
		}
	}

	/** Gives back what sweepers find. */
	private static void giveBackAll() {
		for (String job : redis.zrange(index(), 0, -1)) {
			assertThat(job).isEqualTo(JOB);
			assertThat(eval(redis, ReceiptScripts.GIVE_BACK, KEYS.all(JOB, bytes(QUEUE)), JOB, Receipts.CHUNK, "now"))
				.isInstanceOf(List.class);
		}
	}

	/** Pops like a job that still runs. */
	private static void pop() {
		try {
			redis.lmove(QUEUE, popped(), LMoveArgs.Builder.rightLeft());
		}
		catch (RedisCommandExecutionException ex) {
			assertThat(ex).hasMessageStartingWith("WRONGTYPE");
		}
	}

	private static String index() {
		return text(KEYS.index());
	}

	private static String popped() {
		return text(KEYS.popped(JOB));
	}

	/** The reply, or the error as a string. */
	private static @Nullable Object eval(RedisCommands<String, String> redis, String script, List<byte[]> keys,
			Object... arguments) {
		try {
			return redis.eval(script, ScriptOutputType.MULTI,
					keys.stream().map(ReceiptRig::text).toArray(String[]::new),
					ReceiptScripts.arguments(arguments).stream().map(ReceiptRig::text).toArray(String[]::new));
		}
		catch (RedisCommandExecutionException ex) {
			return ex.getMessage();
		}
	}

	/** The scripts that write, each with the state that it needs. */
	enum Step {

		OPEN(ReceiptScripts.OPEN, (job) -> KEYS.all(job, bytes(QUEUE)), 60_000, CLIENT) {

			@Override
			void prepare() {
				// It needs no state.
			}

			@Override
			void goOn(@Nullable Object answer) {
				if (answer instanceof List) {
					pop();
				}
			}

		},

		RECOVER(ReceiptScripts.RECOVER, (job) -> KEYS.all(job, bytes(QUEUE)), CLIENT) {

			@Override
			void prepare() {
				redis.lmove(QUEUE, popped(), LMoveArgs.Builder.rightLeft());
			}

			/** The job repeats the call until it gets a reply. */
			@Override
			void goOn(@Nullable Object answer) {
				if (!(answer instanceof List)) {
					eval(redis, ReceiptScripts.RECOVER, KEYS.all(JOB, bytes(QUEUE)), JOB, CLIENT);
				}
			}

		},

		HAND_OVER(ReceiptScripts.HAND_OVER, KEYS::unclaimed, 60_000, 2), DROP(ReceiptScripts.DROP, KEYS::unclaimed) {

			@Override
			void prepare() {
				open();
			}

		},

		ACK(ReceiptScripts.ACK, KEYS::unclaimed, CLIENT) {

			@Override
			void prepare() {
				super.prepare();
				redis.hset(text(KEYS.receipt(JOB)), "state", "waiting");
			}

		},

		GIVE_BACK_OF_A_JOB_THAT_POPS(ReceiptScripts.GIVE_BACK, (job) -> KEYS.all(job, bytes(QUEUE)), 500, "now") {

			@Override
			void goOn(@Nullable Object answer) {
				pop();
			}

		},

		GIVE_BACK(ReceiptScripts.GIVE_BACK, (job) -> KEYS.all(job, bytes(QUEUE)), 500, "now") {

			@Override
			void prepare() {
				ACK.prepare();
			}

		},

		GIVE_BACK_MORE(ReceiptScripts.GIVE_BACK, (job) -> KEYS.all(job, bytes(QUEUE)), 500, "now") {

			@Override
			void prepare() {
				ACK.prepare();
				eval(redis, ReceiptScripts.GIVE_BACK, KEYS.all(JOB, bytes(QUEUE)), JOB, 1, "now");
			}

		},

		GIVE_BACK_NOTHING(ReceiptScripts.GIVE_BACK, (job) -> KEYS.all(job, bytes(QUEUE)), 500, "now") {

			@Override
			void prepare() {
				open();
				redis.del(text(KEYS.receipt(JOB)));
			}

		},

		POSTPONE(ReceiptScripts.POSTPONE, (job) -> List.of(KEYS.index()), 60_000);

		private final String script;

		private final Function<String, List<byte[]>> keys;

		private final Object[] arguments;

		Step(String script, Function<String, List<byte[]>> keys, Object... arguments) {
			this.script = script;
			this.keys = keys;
			List<Object> all = new ArrayList<>(List.of(arguments));
			all.add(0, JOB);
			this.arguments = all.toArray();
		}

		/** A job has popped two values. */
		void prepare() {
			open();
			redis.lmove(QUEUE, popped(), LMoveArgs.Builder.rightLeft());
			redis.lmove(QUEUE, popped(), LMoveArgs.Builder.rightLeft());
		}

		/** The next step, in addition to sweeps. */
		void goOn(@Nullable Object answer) {
			// There is none.
		}

		static void open() {
			eval(redis, ReceiptScripts.OPEN, KEYS.all(JOB, bytes(QUEUE)), JOB, 60_000, CLIENT);
		}

		Stream<String> commands() {
			return Pattern.compile("redis\\.p?call\\('([A-Z]+)'")
				.matcher(this.script)
				.results()
				.map((MatchResult call) -> call.group(1))
				.distinct();
		}

		@Nullable Object run() {
			return eval(service, this.script, this.keys.apply(JOB), this.arguments);
		}

	}

}
