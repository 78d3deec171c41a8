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

/** Lends pooled connections by {@link RedisTemplate#executePipelined}. */
public final class ConnectionLender {

	/**
	 * How long to retry for a connection while the master may be changing. The last
	 * attempt may take as long as opening a connection takes.
	 */
	public static final Duration MAX_MASTER_CHANGE = Duration.ofSeconds(1);

	private static final long RETRY_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final RedisTemplate<byte[], byte[]> template;

	private final JobFlushPolicy flushPolicy;

	private final int pooled;

	private final String address;

	private final @Nullable Runnable masterCheck;

	/** The server that has replaced this one; {@code null} if none has. */
	private volatile @Nullable ConnectionLender successor;

	/**
	 * Lends connections.
	 * @param pooled the maximum number of connections in the pool
	 * @param address host and port of the server
	 * @param masterCheck runs each time before a connection is lent, and detects whether
	 * another server has replaced this one; {@code null} if that never happens
	 */
	public ConnectionLender(RedisTemplate<byte[], byte[]> template, JobFlushPolicy flushPolicy, int pooled,
			String address, @Nullable Runnable masterCheck) {
		this.template = template;
		this.flushPolicy = flushPolicy;
		this.pooled = pooled;
		this.address = address;
		this.masterCheck = masterCheck;
	}

	/**
	 * Lends the connections of a factory that has no other users.
	 * @param pooled the maximum number of connections in the pool
	 * @param masterCheck see the constructor
	 */
	public static ConnectionLender of(LettuceConnectionFactory factory, int pooled, String address,
			@Nullable Runnable masterCheck) {
		JobFlushPolicy flushPolicy = new JobFlushPolicy();
		// Without reconnects, a shared connection would stay dead after its first loss.
		factory.setShareNativeConnection(false);
		factory.setPipeliningFlushPolicy(flushPolicy);
		RedisTemplate<byte[], byte[]> template = new RedisTemplate<>();
		template.setConnectionFactory(factory);
		// No proxy that guards against closing: the callbacks are the service's own.
		template.setExposeConnection(true);
		template.afterPropertiesSet();
		return new ConnectionLender(template, flushPolicy, pooled, address, masterCheck);
	}

	/** The host and port of the server. */
	public String address() {
		return this.address;
	}

	/** Checks whether another server has replaced this one. */
	public void checkMaster() {
		if (this.masterCheck != null) {
			this.masterCheck.run();
		}
	}

	/**
	 * The server that has replaced this one.
	 * @return its lender; {@code null} if there is none
	 */
	public @Nullable ConnectionLender successor() {
		return this.successor;
	}

	/**
	 * Records that another server has replaced this one. From now on no connection is
	 * lent.
	 */
	public void replacedBy(ConnectionLender successor) {
		this.successor = successor;
	}

	/**
	 * Makes single calls to this server, or to its successor if this server has been
	 * replaced.
	 * @param replyTimeout how long to wait for each reply
	 * @throws RedisCallException if there was no connection, or if {@code call} throws it
	 */
	public <T> T callMaster(Duration replyTimeout, Function<CallConnection, T> call) {
		try {
			return call(replyTimeout, call);
		}
		catch (RedisCallException ex) {
			ConnectionLender next = this.successor;
			if (next != null && ex.getCause() instanceof NoConnectionException) {
				return next.callMaster(replyTimeout, call);
			}
			throw ex;
		}
	}

	/**
	 * Makes single calls on a connection that has no other users meanwhile.
	 * @param replyTimeout how long to wait for each reply
	 * @throws RedisCallException if there was no connection, or if {@code call} throws it
	 */
	public <T> T call(Duration replyTimeout, Function<CallConnection, T> call) {
		AtomicReference<@Nullable T> answer = new AtomicReference<>();
		AtomicReference<@Nullable RedisCallException> failure = new AtomicReference<>();
		try {
			lend(FlushPolicy.close(), (connection) -> {
				try {
					answer.set(call.apply(new CallConnection(this.address, connection, replyTimeout)));
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
	 * Repeats a call while its connection breaks. The call must be safe to run twice.
	 * After Redis has closed all connections, the pool may still lend each of them once.
	 * Such broken connections do not mean that Redis is down.
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
	 * Lends a connection to one borrower until the borrower returns.
	 * @param borrower uses the connection. It must read every reply, or close the
	 * connection. If it throws an exception, the connection is closed
	 * @throws NoConnectionException if there was no connection; the borrower was not
	 * called
	 */
	public void lend(FlushPolicy flush, Consumer<StatefulRedisConnection<byte[], byte[]>> borrower)
			throws NoConnectionException {
		long begun = System.nanoTime();
		int unexplained = 0;
		while (true) {
			checkMaster();
			try {
				lendNow(flush, borrower);
				return;
			}
			catch (NoConnectionException ex) {
				if (NoConnectionException.isUnheard(ex.getCause())
						&& ++unexplained < NoConnectionException.MOST_UNHEARD) {
					continue;
				}
				// While the master changes, this may have tried the former master.
				if (this.masterCheck == null || this.successor != null
						|| System.nanoTime() - begun >= MAX_MASTER_CHANGE.toNanos()
						|| Thread.currentThread().isInterrupted()) {
					throw ex;
				}
				LockSupport.parkNanos(RETRY_DELAY_NANOS);
			}
		}
	}

	@SuppressWarnings({ "unchecked", "NullAway" }) // executePipelined demands a null
	private void lendNow(FlushPolicy flush, Consumer<StatefulRedisConnection<byte[], byte[]>> borrower)
			throws NoConnectionException {
		throwIfReplaced();
		AtomicBoolean called = new AtomicBoolean();
		RedisCallback<Object> callback = (connection) -> {
			// The factory's connections all speak bytes.
			var lent = (StatefulRedisConnection<byte[], byte[]>) this.flushPolicy.connection();
			if (this.successor != null) {
				// This one may have been opened after the others were closed.
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
			// Spring cannot close the pipeline of a lost connection. The borrower already
			// knows of the loss.
		}
		if (!called.get()) {
			throwIfReplaced();
		}
	}

	private void throwIfReplaced() throws NoConnectionException {
		ConnectionLender master = this.successor;
		if (master != null) {
			throw new NoConnectionException(this.address, "Redis at " + master.address + " has become master");
		}
	}

}
