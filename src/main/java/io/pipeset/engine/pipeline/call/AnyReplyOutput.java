package io.pipeset.engine.pipeline.call;

import java.nio.ByteBuffer;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;

/** Accepts any integer or bulk string reply, and discards its value. */
final class AnyReplyOutput extends CommandOutput<byte[], byte[], Boolean> {

	AnyReplyOutput() {
		super(ByteArrayCodec.INSTANCE, true);
	}

	@Override
	public void set(ByteBuffer bytes) {
		// The value is not needed.
	}

	@Override
	public void set(long integer) {
		// The value is not needed.
	}

}
