package io.pipeset.engine.pipeline.call;

import java.nio.ByteBuffer;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;

/** Takes any reply that is one number or one text, and keeps only that there was one. */
final class AnyReplyOutput extends CommandOutput<byte[], byte[], Boolean> {

	AnyReplyOutput() {
		super(ByteArrayCodec.INSTANCE, true);
	}

	@Override
	public void set(ByteBuffer bytes) {
		// It is enough that Redis has answered.
	}

	@Override
	public void set(long integer) {
		// It is enough that Redis has answered.
	}

}
