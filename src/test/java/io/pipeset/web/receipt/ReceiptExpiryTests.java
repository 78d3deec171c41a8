package io.pipeset.web.receipt;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lettuce.core.LMoveArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * After the deadline values go back by themselves, whatever step another instance had
 * reached.
 */
@ServiceTest(properties = "pipeset.receipts.sweep-interval=100ms")
class ReceiptExpiryTests {

	private static final String ID = "0199a6f2-0000-7000-8000-00000000000f";

	private static final String RECEIPTS = "pipeset:receipts";

	private static final String RECEIPT = "pipeset:receipt:" + ID;

	private static final String POPPED = "pipeset:pop:" + ID;

	private static final String RETURNING = "pipeset:returning:" + ID;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ReceiptExpiryTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void whatIsNotAcknowledgedInTimeGoesBackInOrder() {
		this.service.post("/listinput/mylist9?count=3000").report();
		List<String> before = this.redis.lrange("mylist9", 0, -1);
		Logger sweeper = (Logger) LoggerFactory.getLogger("io.pipeset.receipt.ReceiptSweeper");
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		sweeper.addAppender(log);
		sweeper.setAdditive(false);
		sweeper.setLevel(Level.INFO);
		String id;
		long soon;
		try {
			long began = millis();
			JsonNode report = this.service.post("/piperpop/2000?reliable=true&receiptTtl=1h").report();
			id = ReliablePopTests.id(report);
			long deadline = report.at("/receipt/deadlineMillis").asLong();
			assertThat(deadline - Duration.ofHours(1).toMillis()).isBetween(began, millis());
			assertThat(this.redis.zscore(RECEIPTS, id)).isEqualTo((double) deadline);
			// A short deadline might come before a slow job is done.
			soon = millis() + 1000;
			this.redis.zadd(RECEIPTS, (double) soon, id);
			await().until(() -> !log.list.isEmpty());
		}
		finally {
			sweeper.setLevel(null);
			sweeper.setAdditive(true);
			sweeper.detachAppender(log);
		}
		assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage)
			.containsExactly("Job " + id + ": its receipt expired, and 2000 values went back to their list");
		await().until(() -> this.redis.zcard(RECEIPTS) == 0);
		assertThat(millis()).isGreaterThanOrEqualTo(soon);
		assertThat(this.redis.lrange("mylist9", 0, -1)).isEqualTo(before);
		assertThat(this.redis.keys("*")).containsExactly("mylist9");
		this.service.post("/v1/jobs/" + id + "/ack").refusal(410, "gone");
	}

	/**
	 * Takes the steps of an instance up to one of them, as if the instance had then been
	 * killed.
	 */
	@ParameterizedTest
	@EnumSource
	void whateverStepAnInstanceDiedAfterNothingIsLostOrDoubled(Step last) {
		for (int i = 0; i < 10; i++) {
			this.redis.lpush("queue", "v" + i);
		}
		List<String> before = this.redis.lrange("queue", 0, -1);
		this.redis.hset(RECEIPT, "key", "queue");
		for (Step step : Step.values()) {
			if (step.compareTo(last) <= 0) {
				step.take(this.redis);
			}
		}
		// Only now may the sweeper see the receipt.
		this.redis.zadd(RECEIPTS, 0, ID);
		await().until(() -> this.redis.zcard(RECEIPTS) == 0);
		assertThat(this.redis.lrange("queue", 0, -1)).isEqualTo(before);
		assertThat(this.redis.exists(RECEIPT, RETURNING)).isZero();
		// A job that still ran could move no more values.
		boolean late = last.compareTo(Step.HANDED_OVER) < 0;
		assertThat(this.redis.type(POPPED)).isEqualTo((late) ? "string" : "none");
	}

	@Test
	void anAckAndTheDeadlineHaveOneWinner() {
		int acked = 0;
		int back = 0;
		for (int round = 0; round < 3 || (round < 100 && (acked == 0 || back == 0)); round++) {
			this.redis.flushall();
			List<String> ids = new ArrayList<>();
			for (int i = 0; i < 50; i++) {
				this.redis.lpush("list" + i, "a", "b", "c");
				ids.add(ReliablePopTests.id(this.service.post("/piperpop/3?reliable=true&key=list" + i).report()));
			}
			this.redis.zadd(RECEIPTS, ids.stream().flatMap((id) -> Stream.of(0.0, id)).toArray());
			List<Integer> answers = new ArrayList<>();
			// The receipts are acknowledged one by one, while the sweeper looks for
			// expired ones.
			for (String id : ids) {
				answers.add(this.service.post("/v1/jobs/" + id + "/ack").status());
			}
			await().until(() -> this.redis.keys("pipeset:*").isEmpty());
			for (int i = 0; i < answers.size(); i++) {
				assertThat(answers.get(i)).isIn(204, 410);
				boolean won = answers.get(i) == 204;
				assertThat(this.redis.lrange("list" + i, 0, -1)).isEqualTo((won) ? List.of() : List.of("c", "b", "a"));
				acked += (won) ? 1 : 0;
				back += (won) ? 0 : 1;
			}
		}
		assertThat(acked).isPositive();
		assertThat(back).isPositive();
	}

	@Test
	void aJobThatTakesLongerThanItsReceiptLosesNothing() {
		this.service.post("/listinput/queue?count=10").report();
		List<String> before = this.redis.lrange("queue", 0, -1);
		// A job whose receipt was claimed finds a string at the key of its list.
		this.redis.hset(RECEIPT, "key", "queue");
		Step.RECORDED.take(this.redis);
		this.redis.zadd(RECEIPTS, 0, ID);
		await().until(() -> this.redis.exists(POPPED) == 1);
		assertThatThrownBy(() -> Step.SOME_POPPED.take(this.redis)).hasMessageContaining("WRONGTYPE");
		assertThat(this.redis.lrange("queue", 0, -1)).isEqualTo(before);
	}

	/** The time by the clock of Redis. */
	private long millis() {
		List<String> time = this.redis.time();
		return Long.parseLong(time.get(0)) * 1000 + Long.parseLong(time.get(1)) / 1000;
	}

	/** The steps of an instance, command by command. */
	enum Step {

		RECORDED {
			@Override
			void take(RedisCommands<String, String> redis) {
				redis.hset(RECEIPT, "state", "popping");
			}
		},

		SOME_POPPED {
			@Override
			void take(RedisCommands<String, String> redis) {
				pop(redis, 2);
			}
		},

		ALL_POPPED {
			@Override
			void take(RedisCommands<String, String> redis) {
				pop(redis, 3);
			}
		},

		HANDED_OVER {
			@Override
			void take(RedisCommands<String, String> redis) {
				redis.hset(RECEIPT, "state", "waiting");
			}
		},

		CLAIMED {
			@Override
			void take(RedisCommands<String, String> redis) {
				redis.rename(POPPED, RETURNING);
				redis.hset(RECEIPT, "state", "returning");
			}
		},

		SOME_BACK {
			@Override
			void take(RedisCommands<String, String> redis) {
				giveBack(redis, 2);
			}
		},

		ALL_BACK {
			@Override
			void take(RedisCommands<String, String> redis) {
				giveBack(redis, 3);
			}
		};

		abstract void take(RedisCommands<String, String> redis);

		private static void pop(RedisCommands<String, String> redis, int times) {
			for (int i = 0; i < times; i++) {
				redis.lmove("queue", POPPED, LMoveArgs.Builder.rightLeft());
			}
		}

		private static void giveBack(RedisCommands<String, String> redis, int times) {
			for (int i = 0; i < times; i++) {
				redis.lmove(RETURNING, "queue", LMoveArgs.Builder.leftRight());
			}
		}

	}

}
