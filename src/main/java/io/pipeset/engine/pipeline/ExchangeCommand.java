package io.pipeset.engine.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import io.pipeset.engine.slab.Exchange;
import org.jspecify.annotations.Nullable;

/**
 * An exchange as one Lettuce command. It encodes itself as all commands of the exchange,
 * and completes when {@link ReplyHandler} has read all replies. Whether it is answered,
 * cancelled or never written, it reports its end exactly once.
 */
final class ExchangeCommand implements RedisCommand<byte[], byte[], String> {

	private static final ProtocolKeyword TYPE = new ProtocolKeyword() {

		@Override
		public byte[] getBytes() {
			return toString().getBytes(StandardCharsets.US_ASCII);
		}

		@Override
		public String toString() {
			return "PIPESET.EXCHANGE";
		}

	};

	private final Exchange exchange;

	private final Pipeline pipeline;

	private final Runnable whenDone;

	private final AtomicBoolean done = new AtomicBoolean();

	private CommandOutput<byte[], byte[], String> output = new StatusOutput<>(ByteArrayCodec.INSTANCE);

	ExchangeCommand(Exchange exchange, Pipeline pipeline, Runnable whenDone) {
		this.exchange = exchange;
		this.pipeline = pipeline;
		this.whenDone = whenDone;
	}

	Exchange exchange() {
		return this.exchange;
	}

	void markRead() {
		this.pipeline.markRead();
	}

	@Override
	public void encode(ByteBuf out) {
		this.exchange.writeTo(out);
	}

	@Override
	public void complete() {
		if (this.exchange.leavesTransactionOpen()) {
			// Otherwise the next batch's commands would be queued in this transaction.
			this.pipeline.abandon();
		}
		end();
	}

	@Override
	public void cancel() {
		end();
	}

	@Override
	public boolean completeExceptionally(Throwable cause) {
		this.pipeline.setFailure(cause);
		return end();
	}

	private boolean end() {
		if (this.done.compareAndSet(false, true)) {
			this.exchange.end();
			this.whenDone.run();
			return true;
		}
		return false;
	}

	@Override
	public boolean isDone() {
		return this.done.get();
	}

	@Override
	public boolean isCancelled() {
		return isDone() && !this.exchange.isAnswered();
	}

	@Override
	public CommandOutput<byte[], byte[], String> getOutput() {
		return this.output;
	}

	@Override
	public void setOutput(CommandOutput<byte[], byte[], String> output) {
		this.output = output;
	}

	@Override
	public @Nullable CommandArgs<byte[], byte[]> getArgs() {
		return null;
	}

	@Override
	public ProtocolKeyword getType() {
		return TYPE;
	}

	@Override
	public String toString() {
		return TYPE + " (" + this.exchange + ")";
	}

}
