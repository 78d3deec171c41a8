package io.pipeset.lane;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.flush.FlushPolicy;
import io.pipeset.report.Account;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import io.pipeset.report.Results;
import io.pipeset.servers.RedisNodes;
import io.pipeset.slab.FilledSlabs;
import io.pipeset.slab.Loss;
import io.pipeset.slab.Slab;
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
		RetryPauses pauses = new RetryPauses(this.context, retries);
		assertThat(pauses.begin(Loss.CONNECTION_LOST, System.nanoTime())).isTrue();
		assertThat(retries.isLeft()).isFalse();
		await().until(() -> !pauses.pause());
		assertThat(pauses.goesOnRefused("BUSY")).isTrue();
		await().until(() -> !pauses.goesOnRefused("BUSY"));
	}

	private LaneContext context(Retries retries) {
		RedisNodes nodes = (RedisNodes) Proxy.newProxyInstance(RedisNodes.class.getClassLoader(),
				new Class<?>[] { RedisNodes.class }, (proxy, method, arguments) -> null);
		return new LaneContext(
				new LaneSettings(10, FlushPolicy.each(), 1, Duration.ofSeconds(1), 0, 0, Duration.ofSeconds(1), false,
						true),
				new Account(Results.ERRORS, 10, false), new JobClock(), this.stop, retries,
				new InFlightBytes(1 << 20, new SimpleMeterRegistry()), nodes,
				new PipelineProperties(CONNECTIONS, 100, DataSize.ofMegabytes(1), Duration.ofSeconds(1), false),
				new JobMeters(new SimpleMeterRegistry()), Observation.NOOP, null, null, new UnlimitedSlabMemory(),
				() -> {
				});
	}

}
