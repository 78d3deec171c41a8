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
 * After a loss a lane goes on if the job allows it, or else stops the job for the right
 * reason.
 */
class RecoveryTests {

	private static final int CONNECTIONS = 2;

	private final JobStop stop = new JobStop();

	private final LaneContext context = context(new Retries(0));

	private final Recovery recovery = new Recovery(this.context);

	@Test
	void deadConnectionsCostNoRetryUntilEveryOneOfThePoolWasDead() {
		BatchResult dead = new BatchResult(List.of(), null, false, true, "reset by peer", null);
		for (int connection = 0; connection < CONNECTIONS; connection++) {
			this.recovery.after(dead, null);
		}
		assertThat(this.stop.isSet()).isFalse();
		this.recovery.after(dead, null);
		assertThat(this.stop.ending()).isEqualTo(new Ending(Cause.REDIS_UNREACHABLE,
				"The connection to Redis was lost before anything could be written: reset by peer"));
	}

	/** In a cluster a redirection costs no retry, but another refusal beside it does. */
	@Test
	void aBatchIsKnownByTheRefusalThatCostsARetry() {
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
	void anAnswerBeginsTheCountOfDeadConnectionsAnew() {
		BatchResult dead = new BatchResult(List.of(), null, false, true, null, null);
		for (int connection = 0; connection < 10 * CONNECTIONS; connection++) {
			this.recovery.after(dead, null);
			this.recovery.progress();
		}
		assertThat(this.stop.isSet()).isFalse();
	}

	@Test
	void aLossWithoutARetryStopsTheJob() {
		assertThat(this.recovery.mayGoOn()).isFalse();
		Loss loss = new Loss(Loss.CONNECTION_LOST, "The connection to Redis was lost");
		this.recovery.after(new BatchResult(List.of(), loss, true, true, null, null), null);
		assertThat(this.stop.ending()).isEqualTo(new Ending(Cause.REDIS_LOST, loss.message()));
	}

	/** The last retry is for both lanes that meet one trouble. */
	@Test
	void aLaneThatMeetsTheTroubleOfAnotherOneGoesOnWithItsRetry() {
		LaneContext job = context(new Retries(1));
		Recovery first = new Recovery(job);
		Recovery other = new Recovery(job);
		first.asks();
		other.asks();
		assertThat(first.maySurviveLoss()).isTrue();
		first.after(refused("-BUSY Redis is busy running a script.\r\n"), null);
		assertThat(other.mayGoOn()).isTrue();
		assertThat(other.maySurviveLoss()).isTrue();
		other.asks();
		other.progress();
		assertThat(other.mayGoOn()).isFalse();
		assertThat(other.maySurviveLoss()).isFalse();
		assertThat(this.stop.isSet()).isFalse();
	}

	private static BatchResult refused(String error) {
		Slab slab = FilledSlabs.written(new FilledSlabs().slab("SET a 1"), error);
		return new BatchResult(List.of(slab), null, true, true, null, null);
	}

	/** A server that was replaced or started anew may have forgotten the last pops. */
	@Test
	void aConnectionThatIsNewToALaneOfPopsIsAskedForThoseThatWereAnswered() {
		List<Long> asked = new ArrayList<>();
		LaneContext job = context(new Retries(1), (left, settled) -> {
			assertThat(left).isEmpty();
			asked.add(settled);
			return asked.size() < 2;
		});
		Recovery lane = new Recovery(job);
		lane.lent(1);
		assertThat(asked).isEmpty();
		job.account().taken().add("a", 1, 1);
		lane.lent(1);
		assertThat(asked).isEmpty();
		lane.lent(2);
		lane.lent(2);
		assertThat(asked).containsExactly(1L);
		assertThat(this.stop.isSet()).isFalse();
		lane.lent(1);
		assertThat(asked).containsExactly(1L, 1L);
		assertThat(this.stop.ending().cause()).isEqualTo(Cause.REDIS_LOST);
	}

	/** A kill of all connections ends also those that no lane has at that moment. */
	@Test
	void aConnectionThatIsOlderThanALossAndAnswersNothingCostsNoOtherRetry() {
		LaneContext job = context(new Retries(1));
		BatchResult lost = new BatchResult(List.of(), new Loss(Loss.CONNECTION_LOST, "Broken pipe"), true, true, null,
				null);
		long before = System.nanoTime();
		Recovery first = new Recovery(job);
		first.asks();
		first.after(lost, null);
		Recovery other = new Recovery(job);
		other.asks();
		other.lent(before);
		other.after(lost, null);
		assertThat(this.stop.isSet()).isFalse();
		other.asks();
		other.lent(before);
		other.progress();
		other.after(lost, null);
		assertThat(this.stop.isSet()).isTrue();
	}

	/** A fence may have taken nearly all of the time that the loss had. */
	@Test
	void aBusyRedisBehindALossIsAskedForAWholeTimeoutAndForNoMore() {
		Retries retries = new Retries(1);
		RetryBackoff pauses = new RetryBackoff(context(retries, null, Duration.ofSeconds(1)), retries);
		assertThat(pauses.begin(Loss.CONNECTION_LOST, System.nanoTime())).isTrue();
		assertThat(retries.isLeft()).isFalse();
		await().until(() -> !pauses.pause());
		assertThat(pauses.goesOnRefused("BUSY")).isTrue();
		await().until(() -> !pauses.goesOnRefused("BUSY"));
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
