package io.pipeset.pipeline;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.lettuce.core.api.StatefulConnection;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;

/** Runs batches through {@link RedisTemplate#executePipelined}. */
public final class Pipelines {

	private final RedisTemplate<byte[], byte[]> template;

	private final JobFlushPolicy flushPolicy;

	Pipelines(RedisTemplate<byte[], byte[]> template, JobFlushPolicy flushPolicy) {
		this.template = template;
		this.flushPolicy = flushPolicy;
	}

	/**
	 * Runs a batch on a pooled connection that is the batch's own until it returns.
	 * @param flush when Lettuce writes to the socket
	 * @param batch sends slabs, and returns when each of them is done
	 * @throws NoConnectionException if there was no connection to be had; the batch was
	 * not called
	 */
	@SuppressWarnings({ "unchecked", "NullAway" }) // executePipelined demands a null
	public void run(FlushPolicy flush, Consumer<Pipeline> batch) throws NoConnectionException {
		AtomicBoolean called = new AtomicBoolean();
		RedisCallback<Object> callback = (connection) -> {
			called.set(true);
			// The factory's connections all speak bytes.
			batch.accept(new Pipeline((StatefulConnection<byte[], byte[]>) this.flushPolicy.connection()));
			return null;
		};
		try {
			this.flushPolicy.runWith(flush, () -> this.template.executePipelined(callback));
		}
		catch (DataAccessException ex) {
			if (!called.get()) {
				throw new NoConnectionException(NestedExceptionUtils.getMostSpecificCause(ex));
			}
			// A pipeline whose connection is lost cannot be closed in order; the slabs
			// that
			// came back from it say so already.
		}
	}

}
