package io.pipeset.run;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.pipeset.report.JobClock;
import io.pipeset.report.JobClock.Latency;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The rule by which a job with {@code maxLatency} changes its pace. */
class LatencyRateLimitTests {

	private static final long LOW = TimeUnit.MICROSECONDS.toNanos(300);

	private static final long HIGH = TimeUnit.MILLISECONDS.toNanos(3);

	private static final Duration PERIOD = Duration.ofMillis(20);

	private long nanos;

	private double sent;

	private final LatencyRateLimit pace = new LatencyRateLimit(Duration.ofMillis(2), List::of, new JobClock(),
			() -> (long) this.sent, () -> this.nanos);

	/** The first quarter of a second, in which the probe connects, changes nothing. */
	@BeforeEach
	void connect() {
		pings(13, HIGH, 1e9);
		assertThat(this.pace.perSecond()).isEqualTo(1000);
	}

	@Test
	void itDoublesUntilTheLatencyIsTooHigh() {
		pings(13, LOW, 1e9);
		assertThat(this.pace.perSecond()).isEqualTo(2000);
		pings(13 * 4, LOW, 1e9);
		assertThat(this.pace.perSecond()).isEqualTo(32_000);
	}

	@Test
	void itFallsByAThirdAndRisesFasterAndFaster() {
		pings(13 * 5, LOW, 1e9);
		pings(13, HIGH, 1e9);
		long fallen = this.pace.perSecond();
		assertThat(fallen).isBetween(21_000L, 21_334L);
		pings(13, LOW, 1e9);
		assertThat(this.pace.perSecond() - fallen).as("a fiftieth of the fastest rate").isBetween(638L, 645L);
		pings(13 * 3, LOW, 1e9);
		assertThat(this.pace.perSecond() - fallen).isBetween(4 * 638L, 4 * 645L);
		pings(13 * 4, LOW, 1e9);
		assertThat(this.pace.perSecond() - fallen).as("twice as much").isBetween((4 + 8) * 638L, (4 + 8) * 645L);
		pings(13, HIGH, 1e9);
		long again = this.pace.perSecond();
		pings(13, LOW, 1e9);
		assertThat(this.pace.perSecond() - again).isBetween(638L, 645L);
	}

	/** A tenth of the last second may take longer, and later falls need new PINGs. */
	@Test
	void oneSlowPingInTenChangesNothing() {
		pings(13, LOW, 1e9);
		long before = this.pace.perSecond();
		for (int i = 0; i < 13; i++) {
			pings(9, LOW, 1e9);
			pings(1, HIGH, 1e9);
		}
		assertThat(this.pace.perSecond()).isGreaterThan(before);
	}

	@Test
	void itStaysAHundredthOfTheFastestRate() {
		pings(13 * 6, LOW, 1e9);
		long fastest = this.pace.perSecond();
		pings(13 * 40, HIGH, 1e9);
		assertThat(this.pace.perSecond()).isBetween(fastest / 100 - 1, fastest / 100 + 10);
		pings(13, LOW, 1e9);
		assertThat(this.pace.perSecond()).as("rises from there").isGreaterThan(fastest / 50);
		pings(13 * 20, LOW, 1e9);
		assertThat(this.pace.perSecond()).as("5 seconds later").isGreaterThan(fastest / 3);
	}

	/** A PING that is answered while the job ends must not start the probe again. */
	@Test
	void aPaceThatIsClosedListensNoMore() {
		AtomicInteger asked = new AtomicInteger();
		LatencyRateLimit closed = new LatencyRateLimit(Duration.ofMillis(2), () -> {
			asked.incrementAndGet();
			return List.of();
		}, new JobClock(), () -> 0, () -> this.nanos);
		closed.open();
		closed.close();
		for (int i = 0; i < 100; i++) {
			this.nanos += PERIOD.toNanos();
			closed.measured(HIGH);
		}
		assertThat(asked).hasValue(1);
	}

	/** A slow upload must not gain a pace that it would use at once later. */
	@Test
	void aPaceThatTheJobDoesNotUseDoesNotRise() {
		pings(13 * 3, LOW, 1e9);
		long before = this.pace.perSecond();
		pings(13 * 20, LOW, before / 2.0);
		assertThat(this.pace.perSecond()).isEqualTo(before);
	}

	/** What the job could not use may not delay the fall. */
	@Test
	void itFallsFromTheRateThatTheJobReaches() {
		pings(13 * 5, LOW, 1e9);
		pings(13, HIGH, 1000);
		assertThat(this.pace.perSecond()).isBetween(600L, 700L);
	}

	/** A server that stands still answers one PING, late. */
	@Test
	void oneVeryLatePingIsEnough() {
		pings(13 * 5, LOW, 1e9);
		long before = this.pace.perSecond();
		this.nanos += TimeUnit.SECONDS.toNanos(5);
		this.sent += before;
		this.pace.measured(TimeUnit.SECONDS.toNanos(5));
		assertThat(this.pace.perSecond()).isLessThan(before / 3);
	}

	@Test
	void theReportHasWhatTheProbeHasMeasured() {
		JobClock clock = new JobClock();
		assertThat(clock.latency()).isNull();
		for (int i = 0; i < 100; i++) {
			clock.probed((i < 98) ? LOW : HIGH);
		}
		clock.throttled(TimeUnit.MILLISECONDS.toNanos(7));
		Latency latency = clock.latency();
		assertThat(latency).isNotNull();
		assertThat(latency.p50Micros()).isBetween(299L, 303L);
		assertThat(latency.p99Micros()).isBetween(2980L, 3020L);
		assertThat(latency.throttledMillis()).isEqualTo(7);
	}

	/**
	 * Lets the probe send, while the job sends as fast as its pace allows.
	 * @param most the most records per second that the job could send
	 */
	private void pings(int number, long latency, double most) {
		for (int i = 0; i < number; i++) {
			this.nanos += PERIOD.toNanos();
			this.sent += Math.min(most, (double) this.pace.perSecond()) * PERIOD.toMillis() / 1000;
			this.pace.measured(latency);
		}
	}

}
