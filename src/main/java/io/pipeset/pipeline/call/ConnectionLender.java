package io.pipeset.pipeline.call;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.lettuce.core.api.StatefulRedisConnection;
import io.pipeset.pipeline.flush.FlushPolicy;
import io.pipeset.pipeline.flush.JobFlushPolicy;
import io.pipeset.slab.RedisErrors;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;

/** Lends pooled connections, by {@link RedisTemplate#executePipelined}. */
public final class ConnectionLender {

	/**
	 * How long further connections are asked for while the master may be changing. The
	 * last of them may take as long as opening one takes.
	 */
	public static final Duration MOST_CHANGING = Duration.ofSeconds(1);

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final RedisTemplate<byte[], byte[]> template;

	private final JobFlushPolicy flushPolicy;

	private final int pooled;

	private final String node;

	private final MasterWatch watch;

	/**
	 * Lends connections.
	 * @param pooled how many the pool holds at most
	 * @param node the node's name, the same for as long as the service runs
	 * @param watch is asked for the master each time before a connection is lent
	 */
	public ConnectionLender(RedisTemplate<byte[], byte[]> template, JobFlushPolicy flushPolicy, int pooled, String node,
			MasterWatch watch) {
		this.template = template;
		this.flushPolicy = flushPolicy;
		this.pooled = pooled;
		this.node = node;
		this.watch = watch;
	}

	/**
	 * Lends the connections of a factory that nobody else uses.
	 * @param pooled how many the pool holds at most
	 * @param node the node's name, the same for as long as the service runs
	 */
	public static ConnectionLender of(LettuceConnectionFactory factory, int pooled, String node, MasterWatch watch) {
		JobFlushPolicy flushPolicy = new JobFlushPolicy();
		// A shared connection stays dead after its first drop, since nothing here
		// reconnects.
		factory.setShareNativeConnection(false);
		factory.setPipeliningFlushPolicy(flushPolicy);
		RedisTemplate<byte[], byte[]> template = new RedisTemplate<>();
		template.setConnectionFactory(factory);
		// Without the proxy that guards against closing: the callback is our own.
		template.setExposeConnection(true);
		template.afterPropertiesSet();
		return new ConnectionLender(template, flushPolicy, pooled, node, watch);
	}

	/**
	 * When a connection was lent for the first time. While it is open, its server was not
	 * started anew since.
	 * @return a time of {@link System#nanoTime()}
	 */
	public static long firstLentNanos(StatefulRedisConnection<byte[], byte[]> connection) {
		return ConnectionMemory.of(connection).firstLentNanos();
	}

	/**
	 * The server, for messages.
	 * @return the host and port of the server that is master now
	 */
	public String address() {
		return this.watch.address();
	}

	/**
	 * The node.
	 * @return its name, whichever server it is now
	 */
	public String node() {
		return this.node;
	}

	/** Knows the server that connections lead to. */
	public MasterWatch watch() {
		return this.watch;
	}

	/**
	 * Makes single calls on a connection that nobody else uses.
	 * @param patience how long each answer is waited for
	 * @throws RedisCallException if there was no connection, or if {@code call} throws it
	 */
	public <T> T call(Duration patience, Function<CallConnection, T> call) {
		AtomicReference<@Nullable T> answer = new AtomicReference<>();
		AtomicReference<@Nullable RedisCallException> failure = new AtomicReference<>();
		try {
			lend(FlushPolicy.each(), (connection) -> {
				try {
					answer.set(call.apply(new CallConnection(connection, patience)));
				}
				catch (RedisCallException ex) {
					failure.set(ex);
				}
			});
		}
		catch (NoConnectionException ex) {
			throw RedisCallException.unreachable(ex);
		}
		RedisCallException failed = failure.get();
		if (failed != null) {
			throw failed;
		}
		return Objects.requireNonNull(answer.get());
	}

	/**
	 * Makes a call that may be made twice, again and again while its connection breaks.
	 * After Redis has closed all connections, the pool may still lend each of them once;
	 * that they break says nothing about Redis.
	 * @param call borrows a connection each time
	 * @throws RedisCallException if Redis refuses the call or does not answer, or if more
	 * connections broke than the pool holds
	 */
	public <T> T repeat(Supplier<T> call) {
		for (int broken = 0;; broken++) {
			try {
				return call.get();
			}
			catch (RedisCallException ex) {
				if (!ex.isLost() || broken == this.pooled) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Lends a connection that nobody else uses until the borrower returns.
	 * @param borrower uses the connection; it must get every answer, or close the
	 * connection. If it throws an exception, the connection is closed
	 * @throws NoConnectionException if there was no connection; the borrower was not
	 * called
	 */
	public void lend(FlushPolicy flush, Consumer<StatefulRedisConnection<byte[], byte[]>> borrower)
			throws NoConnectionException {
		long begun = System.nanoTime();
		int unheard = 0;
		while (true) {
			this.watch.look();
			try {
				lendNow(flush, borrower);
				return;
			}
			catch (NoConnectionException ex) {
				if (NoConnectionException.isUnheard(ex.getCause()) && ++unheard < NoConnectionException.MOST_UNHEARD) {
					continue;
				}
				// While the master changes, a connection may be opened to the former one.
				if (!this.watch.isFollowing() || System.nanoTime() - begun >= MOST_CHANGING.toNanos()
						|| Thread.currentThread().isInterrupted()) {
					throw ex;
				}
				LockSupport.parkNanos(PAUSE_NANOS);
			}
		}
	}

	@SuppressWarnings({ "unchecked", "NullAway" }) // executePipelined demands a null
	private void lendNow(FlushPolicy flush, Consumer<StatefulRedisConnection<byte[], byte[]>> borrower)
			throws NoConnectionException {
		AtomicBoolean called = new AtomicBoolean();
		RedisCallback<Object> callback = (connection) -> {
			called.set(true);
			// The factory's connections all speak bytes.
			var lent = (StatefulRedisConnection<byte[], byte[]>) this.flushPolicy.connection();
			firstLentNanos(lent);
			try {
				borrower.accept(lent);
			}
			catch (RuntimeException | Error ex) {
				CompletableFuture<Void> unused = lent.closeAsync();
				throw ex;
			}
			return null;
		};
		try {
			this.flushPolicy.runWith(flush, () -> this.template.executePipelined(callback));
		}
		catch (RuntimeException ex) {
			if (!called.get()) {
				Throwable cause = NestedExceptionUtils.getMostSpecificCause(ex);
				throw (this.watch.isKnown()) ? new NoConnectionException(address(), cause) : new NoConnectionException(
						address(),
						RedisErrors.withRemedy(String.valueOf(cause.getMessage()), "spring.data.redis.sentinel."));
			}
			if (!(ex instanceof DataAccessException)) {
				throw ex;
			}
			// A pipeline whose connection is lost cannot be closed in order; its borrower
			// knows already.
		}
	}

}
