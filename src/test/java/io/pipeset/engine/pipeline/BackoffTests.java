package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The delays between attempts grow, and the attempts end. */
class BackoffTests {

	private final List<Long> waited = new ArrayList<>();

	private boolean stopped;

	private final StopSignal stop = new StopSignal() {

		@Override
		public boolean isSet() {
			return BackoffTests.this.stopped;
		}

		@Override
		public void add(Runnable wake) {
		}

		@Override
		public void remove(Runnable wake) {
		}

		@Override
		public boolean await(long nanos) {
			BackoffTests.this.waited.add(TimeUnit.NANOSECONDS.toMillis(nanos));
			return BackoffTests.this.stopped;
		}

	};

	@Test
	void delaysGrowAndStartShortAgainAfterTheEnd() {
		Backoff backoff = new Backoff(Duration.ofHours(1), this.stop);
		for (int attempt = 0; attempt < 8; attempt++) {
			assertThat(backoff.next()).isTrue();
		}
		assertThat(backoff.areUnderWay()).isTrue();
		// Jitter changes each delay by up to a half, so that lanes do not retry at the
		// same time.
		assertThat(this.waited.get(0)).isBetween(10L, 30L);
		assertThat(this.waited.get(3)).isBetween(80L, 240L);
		assertThat(this.waited.get(7)).isBetween(250L, 500L);
		backoff.end();
		assertThat(backoff.areUnderWay()).isFalse();
		assertThat(backoff.next()).isTrue();
		assertThat(this.waited.get(8)).isBetween(10L, 30L);
	}

	@Test
	void noAttemptIsMadeAfterTheTimeout() {
		Backoff backoff = new Backoff(Duration.ZERO, this.stop);
		assertThat(backoff.next()).isFalse();
		assertThat(this.waited).isEmpty();
	}

	@Test
	void noAttemptIsMadeAfterAStop() {
		this.stopped = true;
		assertThat(new Backoff(Duration.ofHours(1), this.stop).next()).isFalse();
	}

	@Test
	void aCallIsRepeatedUntilItSucceeds() {
		List<Boolean> answers = new ArrayList<>(List.of(false, false, true));
		Backoff backoff = new Backoff(Duration.ofHours(1), this.stop);
		String answer = backoff.ask(() -> answer(answers.remove(0)), RedisCallException::isTransient);
		assertThat(answer).isEqualTo("done");
		assertThat(this.waited).hasSize(2);
		assertThat(backoff.areUnderWay()).isFalse();
	}

	@Test
	void aPermanentFailureIsNotRetried() {
		Backoff backoff = new Backoff(Duration.ofHours(1), this.stop);
		assertThatExceptionOfType(RedisCallException.class)
			.isThrownBy(() -> backoff.ask(() -> answer(false), RedisCallException::isRedirected));
		assertThat(this.waited).isEmpty();
	}

	private static String answer(boolean connected) {
		if (!connected) {
			throw RedisCallException.unreachable(new NoConnectionException("nowhere:1", "it is closed"));
		}
		return "done";
	}

}
