package io.pipeset.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import io.pipeset.slab.Attempt;
import io.pipeset.slab.Slab;
import org.jspecify.annotations.Nullable;

/**
 * A slab as Lettuce sees it: one command, which encodes itself by copying the slab's
 * bytes and is complete when {@link ReplyHandler} has counted off all replies. However
 * the command ends, answered, cancelled or never written, it hands the slab over once.
 */
final class SlabCommand implements RedisCommand<byte[], byte[], String> {

	private static final ProtocolKeyword TYPE = new ProtocolKeyword() {

		@Override
		public byte[] getBytes() {
			return toString().getBytes(StandardCharsets.US_ASCII);
		}

		@Override
		public String toString() {
			return "PIPESET.SLAB";
		}

	};

	private final Slab slab;

	private final Pipeline pipeline;

	private final Consumer<Slab> whenDone;

	private final AtomicBoolean done = new AtomicBoolean();

	private CommandOutput<byte[], byte[], String> output = new StatusOutput<>(ByteArrayCodec.INSTANCE);

	SlabCommand(Slab slab, Pipeline pipeline, Consumer<Slab> whenDone) {
		this.slab = slab;
		this.pipeline = pipeline;
		this.whenDone = whenDone;
	}

	Attempt attempt() {
		return this.slab.attempt();
	}

	void heard() {
		this.pipeline.heard();
	}

	@Override
	public void encode(ByteBuf out) {
		this.slab.attempt().writeTo(out);
	}

	@Override
	public void complete() {
		if (this.slab.attempt().leavesTransactionOpen()) {
			// The next batch on the connection would only add to the transaction.
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
		this.pipeline.failed(cause);
		return end();
	}

	private boolean end() {
		if (this.done.compareAndSet(false, true)) {
			this.slab.attempt().end();
			this.whenDone.accept(this.slab);
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
		return isDone() && !this.slab.attempt().isAnswered();
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
		return TYPE + " (" + this.slab + ")";
	}

}
