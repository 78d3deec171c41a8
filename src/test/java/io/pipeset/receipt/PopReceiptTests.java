package io.pipeset.receipt;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.LMoveArgs;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneSettings;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.Results;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The service repeats its query for a receipt until Redis replies, because a query
 * changes nothing.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE)
class PopReceiptTests {

	private static final String JOB = "0199a6f2-0000-7000-8000-00000000000e";

	/** More connections than a call, its repetition and the next call use. */
	private static final int MANY = 7;

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final JobStop stop = new JobStop();

	private final Account account = new Account(Results.ERRORS, 10, true);

	@Autowired
	private Receipts receipts;

	@BeforeEach
	void emptyRedis() {
		redis.client().flushall();
		redis.client().lpush("queue", "a", "b");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void poppedValuesAreQueriedUntilTheyAreFound(boolean stopped) {
		PopReceipt receipt = opened(stopped);
		resetNext(MANY);
		assertThat(receipt.resolve(List.of(), 1)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aReceiptIsHandedOverWhenRedisReplies(boolean stopped) {
		PopReceipt receipt = opened(stopped);
		this.account.taken().add("a", 1, 1);
		resetNext(MANY);
		Receipt handedOver = receipt.handOver(this.account);
		assertThat(handedOver).isNotNull();
		assertThat(redis.client().hget("pipeset:receipt:" + JOB, "state")).isEqualTo("waiting");
	}

	@Test
	void anEmptyReceiptThatCannotBeDeletedDoesNotStopTheJob() {
		PopReceipt receipt = receipt();
		receipt.open();
		resetNext(1000);
		try {
			assertThat(receipt.handOver(this.account)).isNull();
		}
		finally {
			proxy.heal();
		}
		assertThat(this.stop.isSet()).isFalse();
		assertThat(redis.client().zcard("pipeset:receipts")).isOne();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aServiceThatShutsDownDoesNotRetryForLong(boolean stoppedBefore) {
		PopReceipt receipt = opened(stoppedBefore);
		this.stop.stop(Cause.SHUTTING_DOWN, "");
		resetNext(MANY);
		try {
			assertThat(receipt.resolve(List.of(), 1)).isFalse();
		}
		finally {
			proxy.heal();
		}
	}

	private PopReceipt opened(boolean stopped) {
		PopReceipt receipt = receipt();
		receipt.open();
		redis.client()
			.lmove("queue", new String(this.receipts.listOf(JOB), StandardCharsets.UTF_8),
					LMoveArgs.Builder.rightLeft());
		if (stopped) {
			this.stop.stop(Cause.REDIS_LOST, "");
		}
		return receipt;
	}

	private PopReceipt receipt() {
		LaneSettings settings = new LaneSettings(1000, FlushPolicy.close(), 1, Duration.ofSeconds(30), 0, 0,
				Duration.ofSeconds(1), false, true);
		return new PopReceipt(this.receipts, JOB, new ReliablePops("none", "queue", 2, Duration.ofMinutes(1)), settings,
				this.stop);
	}

	/** Resets the connections to come, each at the first byte of a command. */
	private static void resetNext(int times) {
		CompletableFuture<Void> unused = proxy.stopAt(Way.COMMANDS, 0, 0).thenAccept((link) -> {
			link.reset();
			if (times > 1) {
				resetNext(times - 1);
			}
		});
	}

}
