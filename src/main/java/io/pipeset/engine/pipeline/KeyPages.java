package io.pipeset.engine.pipeline;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

import io.pipeset.engine.pipeline.call.CallConnection;
import io.pipeset.engine.pipeline.call.ClientIdentity;
import io.pipeset.engine.pipeline.call.ConnectionMemory;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ScanPosition;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;

/**
 * Queries pages of keys on one lent connection. The SCAN for the next page is sent before
 * the commands about the keys of this page, so that Redis always has work.
 */
final class KeyPages {

	/** How long to hold the connection, because others may wait for it. */
	private static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	/** How often a wait checks whether its reply is still needed. */
	private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/** The most keys of one exchange. At most two exchanges are in flight. */
	private static final int MAX_KEYS = 500;

	/** The bytes of keys after which no key is added to an exchange. */
	private static final int MAX_BYTES = 256 << 10;

	private final Pipeline pipeline;

	private final KeyQuery query;

	private final SilenceWatch silence;

	private final Queue<CompletableFuture<@Nullable Void>> inFlight = new ArrayDeque<>();

	/** The exchange that was sent last. */
	private CompletableFuture<@Nullable Void> last = CompletableFuture.completedFuture(null);

	private @Nullable String runId;

	KeyPages(Pipeline pipeline, KeyQuery query) {
		this.pipeline = pipeline;
		this.query = query;
		this.silence = new SilenceWatch(pipeline, query.timeout(), Duration.ZERO);
	}

	/**
	 * Queries pages until a page is not taken, or the query does not go on.
	 * @param from the position of the first page
	 * @param taker takes a page, or returns {@code false}
	 * @return the page that was not taken
	 * @throws RedisCallException if Redis does not answer, which closes the connection
	 */
	Optional<KeyPage> read(CallConnection connection, ScanPosition from, Predicate<KeyPage> taker) {
		this.runId = ClientIdentity.serverRunId(connection);
		if (!from.holds(this.runId, ConnectionMemory.of(connection.connection()).firstLentNanos())) {
			return Optional.of(KeyPage.restarted());
		}
		try {
			return Optional.ofNullable(read(from, taker));
		}
		catch (RuntimeException | Error ex) {
			this.pipeline.abandon();
			throw ex;
		}
	}

	private @Nullable KeyPage read(ScanPosition from, Predicate<KeyPage> taker) {
		long begun = System.nanoTime();
		KeyPage page = scan(from);
		KeyPage before = null;
		while (page != null || before != null) {
			KeyPage next = null;
			if (page != null) {
				await(page.filled());
				if (!page.isTooLarge() && page.refusals().isEmpty()) {
					boolean goesOn = !page.next().isAtAnEnd() && System.nanoTime() - begun < MAX_NANOS
							&& this.query.goesOn().getAsBoolean();
					next = (goesOn) ? scan(page.next()) : null;
					ask(page);
				}
			}
			if (before != null) {
				await(before.filled());
				if (!taker.test(before)) {
					// Only then has the connection no replies to come.
					await(this.last);
					return before;
				}
			}
			before = page;
			page = next;
		}
		return null;
	}

	private KeyPage scan(ScanPosition from) {
		KeyPage page = new KeyPage(this.query.maxBytes());
		page.filledBy(send(new ScanExchange(this.query, from, this.runId, page)));
		return page;
	}

	private void ask(KeyPage page) {
		List<byte[]> names = page.names();
		long bytes = 0;
		int from = 0;
		for (int to = 1; to <= names.size(); to++) {
			bytes += names.get(to - 1).length;
			if (to == names.size() || to - from == MAX_KEYS || bytes >= MAX_BYTES) {
				if (this.inFlight.size() == 2) {
					await(this.inFlight.remove());
				}
				page.filledBy(send(new FactsExchange(page, names.subList(from, to), this.query.samples())));
				this.inFlight.add(page.filled());
				from = to;
				bytes = 0;
			}
		}
	}

	private CompletableFuture<@Nullable Void> send(ValueExchange exchange) {
		CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
		this.pipeline.send(exchange, () -> {
			if (exchange.isAnswered()) {
				done.complete(null);
			}
			else {
				done.completeExceptionally(
						new IOException(Objects.requireNonNullElse(this.pipeline.failure(), "it was closed")));
			}
		});
		this.last = done;
		return done;
	}

	private void await(CompletableFuture<@Nullable Void> done) {
		this.silence.restart();
		while (true) {
			long left = this.silence.leftNanos();
			try {
				done.get(Math.min(left, CHECK_NANOS), TimeUnit.NANOSECONDS);
				return;
			}
			catch (TimeoutException ex) {
				if (left <= 0 || this.query.isOver().getAsBoolean()) {
					throw RedisCallException
						.silent("Redis did not answer within " + this.query.timeout().toMillis() + " ms", ex);
				}
			}
			catch (ExecutionException ex) {
				throw RedisCallException.lost(NestedExceptionUtils.getMostSpecificCause(ex));
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw RedisCallException.silent("Interrupted before Redis answered", ex);
			}
		}
	}

}
