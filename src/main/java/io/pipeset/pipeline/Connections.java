package io.pipeset.pipeline;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.lettuce.core.api.StatefulRedisConnection;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;

/** Lends pooled connections by way of {@link RedisTemplate#executePipelined}. */
final class Connections {

	private final RedisTemplate<byte[], byte[]> template;

	private final JobFlushPolicy flushPolicy;

	Connections(RedisTemplate<byte[], byte[]> template, JobFlushPolicy flushPolicy) {
		this.template = template;
		this.flushPolicy = flushPolicy;
	}

	/**
	 * Lends a connection that is nobody else's until the borrower returns.
	 * @param flush when Lettuce writes to the socket
	 * @param borrower leaves nothing on its way on a connection that it does not close;
	 * one that it leaves by an exception is closed
	 * @throws NoConnectionException if there was no connection to be had; the borrower
	 * was not called
	 */
	@SuppressWarnings({ "unchecked", "NullAway" }) // executePipelined demands a null
	void lend(FlushPolicy flush, Consumer<StatefulRedisConnection<byte[], byte[]>> borrower)
			throws NoConnectionException {
		AtomicBoolean called = new AtomicBoolean();
		RedisCallback<Object> callback = (connection) -> {
			called.set(true);
			// The factory's connections all speak bytes.
			var lent = (StatefulRedisConnection<byte[], byte[]>) this.flushPolicy.connection();
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
				throw new NoConnectionException(NestedExceptionUtils.getMostSpecificCause(ex));
			}
			if (!(ex instanceof DataAccessException)) {
				throw ex;
			}
			// A pipeline whose connection is lost cannot be closed in order; its borrower
			// knows already.
		}
	}

}
