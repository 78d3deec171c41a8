package io.pipeset.engine.lane;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.FilledSlabs;
import io.pipeset.engine.slab.Loss;
import io.pipeset.engine.slab.Slab;
import io.pipeset.report.Account;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * After a loss, a lane continues if the job allows it, or stops the job for the right
 * reason.
 */
class RecoveryTests {

	private static final int CONNECTIONS = 2;

	private final JobStop stop = new JobStop();

	private final LaneContext context = context(new Retries(0));

	private final Recovery recovery = new Recovery(this.context);

	@Test
	void deadConnectionsCostNoRetryUntilAllOfThePoolWereDead() {
		BatchResult dead = new BatchResult(List.of(), null, false, true, "reset by peer", null);
		for (int connection = 0; connection < CONNECTIONS; connection++) {
			this.recovery.recover(dead, null);
		}
		assertThat(this.stop.isSet()).isFalse();
		this.recovery.recover(dead, null);
		assertThat(this.stop.ending()).isEqualTo(new Ending(Cause.REDIS_UNREACHABLE,
				"The connection to Redis was lost before anything could be written: reset by peer"));
	}

	/**
	 * In a cluster, a redirection costs no retry, but another refusal in the same batch
	 * does.
	 */
	@Test
	void aRefusalThatCostsARetryWinsOverARedirection() {
		String tryAgain = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
		String busy = "-BUSY Redis is busy running a script.\r\n";
		FilledSlabs slabs = new FilledSlabs();
		Slab redirected = FilledSlabs.written(slabs.slab("DEL a b", "SET a 1"), tryAgain + FilledSlabs.OK);
		Slab both = FilledSlabs.written(slabs.slab("DEL a b", "SET a 1"), tryAgain + busy);
		Slab refused = FilledSlabs.written(slabs.slab("SET a 1"), busy);
		assertThat(transientError(redirected)).isEqualTo("TRYAGAIN");
		assertThat(transientError(both)).isEqualTo("BUSY");
		assertThat(transientError(redirected, refused)).isEqualTo("BUSY");
		assertThat(transientError(refused, redirected)).isEqualTo("BUSY");
	}

	private static String transientError(Slab... left) {
		return new BatchResult(List.of(left), null, true, true, null, null).transientError();
	}

	@Test
	void anAnswerResetsTheCountOfDeadConnections() {
		BatchResult dead = new BatchResult(List.of(), null, false, true, null, null);
		for (int connection = 0; connection < 10 * CONNECTIONS; connection++) {
			this.recovery.recover(dead, null);
			this.recovery.markHealthy();
		}
		assertThat(this.stop.isSet()).isFalse();
	}

	@Test
	void aLossWithoutARetryStopsTheJob() {
		assertThat(this.recovery.mayRetry()).isFalse();
		Loss loss = new Loss(Loss.CONNECTION_LOST, "The connection to Redis was lost");
		this.recovery.recover(new BatchResult(List.of(), loss, true, true, null, null), null);
		assertThat(this.stop.ending()).isEqualTo(new Ending(Cause.REDIS_LOST, loss.message()));
	}

	/** Two lanes that meet one failure share the last retry. */
	@Test
	void lanesThatMeetOneFailureShareItsRetry() {
		LaneContext job = context(new Retries(1));
		Recovery first = new Recovery(job);
		Recovery other = new Recovery(job);
		first.startRequest();
		other.startRequest();
		assertThat(first.maySurviveLoss()).isTrue();
		first.recover(refused("-BUSY Redis is busy running a script.\r\n"), null);
		assertThat(other.mayRetry()).isTrue();
		assertThat(other.maySurviveLoss()).isTrue();
		other.startRequest();
		other.markHealthy();
		assertThat(other.mayRetry()).isFalse();
		assertThat(other.maySurviveLoss()).isFalse();
		assertThat(this.stop.isSet()).isFalse();
	}

	private static BatchResult refused(String error) {
		Slab slab = FilledSlabs.written(new FilledSlabs().slab("SET a 1"), error);
		return new BatchResult(List.of(slab), null, true, true, null, null);
	}

	/** A server that was replaced or restarted may have forgotten the last pops. */
	@Test
	void aNewConnectionIsCheckedForEarlierPops() {
		List<Long> asked = new ArrayList<>();
		LaneContext job = context(new Retries(1), (left, settled) -> {
			assertThat(left).isEmpty();
			asked.add(settled);
			return asked.size() < 2;
		});
		Recovery lane = new Recovery(job);
		lane.acceptConnection(1);
		assertThat(asked).isEmpty();
		job.account().taken().add("a", 1, 1);
		lane.acceptConnection(1);
		assertThat(asked).isEmpty();
		lane.acceptConnection(2);
		lane.acceptConnection(2);
		assertThat(asked).containsExactly(1L);
		assertThat(this.stop.isSet()).isFalse();
		lane.acceptConnection(1);
		assertThat(asked).containsExactly(1L, 1L);
		assertThat(this.stop.ending().cause()).isEqualTo(Cause.REDIS_LOST);
	}

	/** Killing all connections also ends those that no lane holds at that moment. */
	@Test
	void anUnansweredConnectionOlderThanALossCostsNoFurtherRetry() {
		LaneContext job = context(new Retries(1));
		BatchResult lost = new BatchResult(List.of(), new Loss(Loss.CONNECTION_LOST, "Broken pipe"), true, true, null,
				null);
		long before = System.nanoTime();
		Recovery first = new Recovery(job);
		first.startRequest();
		first.recover(lost, null);
		Recovery other = new Recovery(job);
		other.startRequest();
		other.acceptConnection(before);
		other.recover(lost, null);
		assertThat(this.stop.isSet()).isFalse();
		other.startRequest();
		other.acceptConnection(before);
		other.markHealthy();
		other.recover(lost, null);
		assertThat(this.stop.isSet()).isTrue();
	}

	/** The fence may have taken nearly the whole timeout of the loss. */
	@Test
	void aBusyRedisAfterALossIsRetriedForOneWholeTimeout() {
		Retries retries = new Retries(1);
		RetryBackoff backoff = new RetryBackoff(context(retries, null, Duration.ofSeconds(1)), retries);
		assertThat(backoff.startRetry(Loss.CONNECTION_LOST, System.nanoTime())).isTrue();
		assertThat(retries.isLeft()).isFalse();
		await().until(() -> !backoff.awaitBackoff());
		assertThat(backoff.awaitRefusedRetry("BUSY")).isTrue();
		await().until(() -> !backoff.awaitRefusedRetry("BUSY"));
	}

	private LaneContext context(Retries retries) {
		return context(retries, null);
	}

	private LaneContext context(Retries retries, @Nullable LostPopResolver pops) {
		return context(retries, pops, Duration.ofMinutes(1));
	}

	private LaneContext context(Retries retries, @Nullable LostPopResolver pops, Duration timeout) {
		RedisNodes nodes = (RedisNodes) Proxy.newProxyInstance(RedisNodes.class.getClassLoader(),
				new Class<?>[] { RedisNodes.class },
				(proxy, method, arguments) -> (method.getReturnType() == boolean.class) ? false : null);
		return new LaneContext(
				new LaneSettings(10, FlushPolicy.each(), 1, timeout, 0, 0, Duration.ofSeconds(1), false, true),
				new Account(Results.ERRORS, 10, false), new JobClock(), this.stop, retries,
				new InFlightBytes(1 << 20, new SimpleMeterRegistry()), nodes,
				new PipelineProperties(CONNECTIONS, 100, DataSize.ofMegabytes(1), Duration.ofSeconds(1), false),
				new JobMeters(new SimpleMeterRegistry()), Observation.NOOP, null, pops, new UnlimitedSlabMemory(),
				() -> {
				});
	}

}
