package io.pipeset.engine.servers;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.pipeset.engine.slab.RedisErrors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.NestedExceptionUtils;

/**
 * The connection to one Sentinel, and its last answer. It is opened anew when it ends.
 */
public final class SentinelLink {

	private static final Logger logger = LoggerFactory.getLogger(SentinelLink.class);

	/** How long a Sentinel that failed to answer is left alone. */
	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	/** The driver, which is another one after a pause of the service. */
	private final Supplier<RedisClient> client;

	private final RedisURI uri;

	private final String master;

	private final Duration patience;

	private @Nullable CompletableFuture<StatefulRedisSentinelConnection<String, String>> connection;

	private CompletableFuture<?> asking = CompletableFuture.completedFuture(null);

	private long askedSince;

	private volatile @Nullable Answer last;

	private volatile @Nullable String failure;

	private boolean failed;

	private long failedSince;

	public SentinelLink(Supplier<RedisClient> client, RedisURI uri, String master, Duration patience) {
		this.client = client;
		this.uri = uri;
		this.master = master;
		this.patience = patience;
	}

	/** The Sentinel's last answer, however old; {@code null} before the first. */
	@Nullable Answer last() {
		return this.last;
	}

	/** Why the Sentinel did not answer last; {@code null} if it did. */
	@Nullable String failure() {
		return this.failure;
	}

	/**
	 * Asks, unless the Sentinel still owes an answer.
	 * @param mostNanos how late that answer may be for somebody to wait for it
	 * @return done when it has answered, or is not to be waited for
	 */
	synchronized CompletableFuture<?> ask(long mostNanos) {
		if (!this.asking.isDone()) {
			return (System.nanoTime() - this.askedSince < mostNanos) ? this.asking
					: CompletableFuture.completedFuture(null);
		}
		if (this.failed && System.nanoTime() - this.failedSince < PAUSE_NANOS) {
			return CompletableFuture.completedFuture(null);
		}
		if (this.connection == null) {
			this.connection = this.client.get().connectSentinelAsync(StringCodec.UTF8, this.uri);
		}
		this.askedSince = System.nanoTime();
		this.asking = this.connection.thenCompose(this::answer)
			.orTimeout(this.patience.toNanos(), TimeUnit.NANOSECONDS)
			.handle(this::answered);
		return this.asking;
	}

	/**
	 * Asks for the epoch first: if the master changes in between, the answer has a new
	 * address with an old epoch, and counts for nothing. There is no answer if the
	 * Sentinel forgets the master in between.
	 */
	private CompletionStage<@Nullable Answer> answer(StatefulRedisSentinelConnection<String, String> sentinel) {
		return sentinel.async()
			.master(this.master)
			.thenCompose((state) -> sentinel.async()
				.getMasterAddrByName(this.master)
				.thenApply(
						(address) -> (address != null) ? new Answer(epoch(state), (InetSocketAddress) address) : null));
	}

	private static long epoch(Map<String, String> state) {
		return Long.parseLong(state.getOrDefault("config-epoch", "0"));
	}

	private synchronized @Nullable Void answered(@Nullable Answer answer, @Nullable Throwable failure) {
		if (answer != null) {
			this.last = answer;
			this.failure = null;
			this.failed = false;
		}
		else {
			this.failure = (failure != null) ? why(failure) : "nothing";
			if (!this.failed) {
				logger.warn("The Sentinel at {}:{} does not say which server is the master of '{}': {}",
						this.uri.getHost(), this.uri.getPort(), this.master, this.failure);
			}
			this.failedSince = System.nanoTime();
			this.failed = true;
			close();
		}
		return null;
	}

	private static String why(Throwable failure) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		return RedisErrors.withRemedy(String.valueOf(cause.getMessage()), "spring.data.redis.sentinel.");
	}

	synchronized void close() {
		CompletableFuture<StatefulRedisSentinelConnection<String, String>> ending = this.connection;
		this.connection = null;
		if (ending != null) {
			CompletableFuture<Void> unused = ending.thenCompose(StatefulRedisSentinelConnection::closeAsync);
		}
	}

	/**
	 * An answer of a Sentinel.
	 *
	 * @param epoch grows with each failover
	 */
	record Answer(long epoch, InetSocketAddress master) {

	}

}
