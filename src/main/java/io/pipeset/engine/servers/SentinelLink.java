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
 * The connection to one Sentinel, and the Sentinel's last answer. It is reopened after it
 * ends.
 */
public final class SentinelLink {

	private static final Logger logger = LoggerFactory.getLogger(SentinelLink.class);

	/** Backoff after a Sentinel failed to answer. */
	private static final long BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	/**
	 * Supplies the current Lettuce client, which is replaced when the service is paused
	 * and resumed.
	 */
	private final Supplier<RedisClient> client;

	private final RedisURI uri;

	private final String master;

	private final Duration timeout;

	private @Nullable CompletableFuture<StatefulRedisSentinelConnection<String, String>> connection;

	private CompletableFuture<?> query = CompletableFuture.completedFuture(null);

	private long queriedNanos;

	private volatile @Nullable Answer last;

	private volatile @Nullable String failure;

	private boolean failed;

	private long failedNanos;

	public SentinelLink(Supplier<RedisClient> client, RedisURI uri, String master, Duration timeout) {
		this.client = client;
		this.uri = uri;
		this.master = master;
		this.timeout = timeout;
	}

	/** The Sentinel's last answer, however old; {@code null} before the first. */
	@Nullable Answer last() {
		return this.last;
	}

	/** Why the last query failed; {@code null} if it was answered. */
	@Nullable String failure() {
		return this.failure;
	}

	/**
	 * Queries the Sentinel, unless an earlier query is still unanswered.
	 * @param maxWaitNanos the age up to which an unanswered query is waited for
	 * @return completes when the query is answered, or at once if there is nothing to
	 * wait for
	 */
	synchronized CompletableFuture<?> query(long maxWaitNanos) {
		if (!this.query.isDone()) {
			return (System.nanoTime() - this.queriedNanos < maxWaitNanos) ? this.query
					: CompletableFuture.completedFuture(null);
		}
		if (this.failed && System.nanoTime() - this.failedNanos < BACKOFF_NANOS) {
			return CompletableFuture.completedFuture(null);
		}
		if (this.connection == null) {
			this.connection = this.client.get().connectSentinelAsync(StringCodec.UTF8, this.uri);
		}
		this.queriedNanos = System.nanoTime();
		this.query = this.connection.thenCompose(this::fetchMaster)
			.orTimeout(this.timeout.toNanos(), TimeUnit.NANOSECONDS)
			.handle(this::handleAnswer);
		return this.query;
	}

	/**
	 * Queries the epoch first. If the master changes in between, the answer has the new
	 * address with an old epoch, and does not win. There is no answer if the Sentinel
	 * forgets the master in between.
	 */
	private CompletionStage<@Nullable Answer> fetchMaster(StatefulRedisSentinelConnection<String, String> sentinel) {
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

	private synchronized @Nullable Void handleAnswer(@Nullable Answer answer, @Nullable Throwable failure) {
		if (answer != null) {
			this.last = answer;
			this.failure = null;
			this.failed = false;
		}
		else {
			this.failure = (failure != null) ? describe(failure) : "the Sentinel knows no such master";
			if (!this.failed) {
				logger.warn("The Sentinel at {}:{} does not name the master of '{}': {}", this.uri.getHost(),
						this.uri.getPort(), this.master, this.failure);
			}
			this.failedNanos = System.nanoTime();
			this.failed = true;
			close();
		}
		return null;
	}

	private static String describe(Throwable failure) {
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
	 * The answer of a Sentinel.
	 *
	 * @param epoch the configuration epoch, which grows with each failover
	 */
	record Answer(long epoch, InetSocketAddress master) {

	}

}
