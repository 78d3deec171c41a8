package io.pipeset.engine.pipeline.call;

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
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.pipeline.flush.JobFlushPolicy;
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

	private final String address;

	private final @Nullable Runnable look;

	/** The server that has taken this one's place; {@code null} while none has. */
	private volatile @Nullable ConnectionLender successor;

	/**
	 * Lends connections.
	 * @param pooled how many the pool holds at most
	 * @param address host and port of the server
	 * @param look is run each time before a connection is lent, and finds out if another
	 * server has taken this one's place; {@code null} if none ever does
	 */
	public ConnectionLender(RedisTemplate<byte[], byte[]> template, JobFlushPolicy flushPolicy, int pooled,
			String address, @Nullable Runnable look) {
		this.template = template;
		this.flushPolicy = flushPolicy;
		this.pooled = pooled;
		this.address = address;
		this.look = look;
	}

	/**
	 * Lends the connections of a factory that nobody else uses.
	 * @param pooled how many the pool holds at most
	 * @param look as above
	 */
	public static ConnectionLender of(LettuceConnectionFactory factory, int pooled, String address,
			@Nullable Runnable look) {
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
		return new ConnectionLender(template, flushPolicy, pooled, address, look);
	}

	/** The host and port of the server. */
	public String address() {
		return this.address;
	}

	/** Finds out if another server has taken this one's place. */
	public void look() {
		if (this.look != null) {
			this.look.run();
		}
	}

	/**
	 * The server that has taken this one's place.
	 * @return its lender; {@code null} while there is none
	 */
	public @Nullable ConnectionLender successor() {
		return this.successor;
	}

	/** Another server has taken this one's place: no connection is lent any more. */
	public void replacedBy(ConnectionLender successor) {
		this.successor = successor;
	}

	/**
	 * Makes single calls, at the server that has taken this one's place if this one lends
	 * no connection for that reason.
	 * @param patience how long each answer is waited for
	 * @throws RedisCallException if there was no connection, or if {@code call} throws it
	 */
	public <T> T callMaster(Duration patience, Function<CallConnection, T> call) {
		try {
			return call(patience, call);
		}
		catch (RedisCallException ex) {
			ConnectionLender next = this.successor;
			if (next != null && ex.getCause() instanceof NoConnectionException) {
				return next.callMaster(patience, call);
			}
			throw ex;
		}
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
					answer.set(call.apply(new CallConnection(this.address, connection, patience)));
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
			look();
			try {
				lendNow(flush, borrower);
				return;
			}
			catch (NoConnectionException ex) {
				if (NoConnectionException.isUnheard(ex.getCause()) && ++unheard < NoConnectionException.MOST_UNHEARD) {
					continue;
				}
				// While the master changes, a connection may be opened to the former one.
				if (this.look == null || this.successor != null || System.nanoTime() - begun >= MOST_CHANGING.toNanos()
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
		refuseIfReplaced();
		AtomicBoolean called = new AtomicBoolean();
		RedisCallback<Object> callback = (connection) -> {
			// The factory's connections all speak bytes.
			var lent = (StatefulRedisConnection<byte[], byte[]>) this.flushPolicy.connection();
			if (this.successor != null) {
				// It may have been opened behind the look at all that were open.
				CompletableFuture<Void> unused = lent.closeAsync();
				return null;
			}
			called.set(true);
			ConnectionMemory.of(lent);
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
				throw new NoConnectionException(this.address, NestedExceptionUtils.getMostSpecificCause(ex));
			}
			if (!(ex instanceof DataAccessException)) {
				throw ex;
			}
			// A pipeline whose connection is lost cannot be closed in order; its borrower
			// knows already.
		}
		if (!called.get()) {
			refuseIfReplaced();
		}
	}

	private void refuseIfReplaced() throws NoConnectionException {
		ConnectionLender master = this.successor;
		if (master != null) {
			throw new NoConnectionException(this.address, "Redis at " + master.address + " has become master");
		}
	}

}
