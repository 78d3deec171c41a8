package io.pipeset.web;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.pipeset.OwnThread;
import io.pipeset.request.Client;
import org.junit.jupiter.api.Test;

import org.springframework.web.ErrorResponseException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Calls that wait for a permit do not take all threads of the web server. */
class CallPermitsTests {

	private static final Client client = Client.anybody(false);

	@Test
	void asManyCallsWaitAsThereArePermitsAndTheNextIsRefusedAtOnce() throws Exception {
		CallPermits permits = new CallPermits(1, "calls", TimeUnit.MINUTES.toMillis(5));
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<Integer> first = OwnThread.supply(() -> permits.run(client, () -> {
			begun.countDown();
			await(end);
			return 1;
		}));
		await(begun);
		List<CompletableFuture<Integer>> next = Stream
			.generate(() -> OwnThread.supply(() -> permits.run(client, () -> 2)))
			.limit(3)
			.toList();
		CountDownLatch refused = new CountDownLatch(2);
		for (CompletableFuture<Integer> call : next) {
			CompletableFuture<Integer> unused = call.whenComplete((done, failure) -> {
				if (failure != null) {
					refused.countDown();
				}
			});
		}
		await(refused);
		end.countDown();
		assertThat(first.get(1, TimeUnit.MINUTES)).isEqualTo(1);
		assertThat(next.stream().filter((call) -> !call.isCompletedExceptionally()).map(CompletableFuture::join))
			.containsExactly(2);
		assertThat(permits.<Integer, RuntimeException>run(client, () -> 3)).isEqualTo(3);
	}

	@Test
	void aCallThatGetsNoPermitInTimeIsRefused() {
		CallPermits permits = new CallPermits(1, "calls", 0);
		permits.run(client,
				() -> assertThatExceptionOfType(ErrorResponseException.class)
					.isThrownBy(() -> permits.run(client, () -> 2))
					.satisfies((ex) -> assertThat(ex.getBody().getDetail())
						.isEqualTo("There are 1 calls under way, as many as the service takes at once: send the request"
								+ " again later")));
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

}
