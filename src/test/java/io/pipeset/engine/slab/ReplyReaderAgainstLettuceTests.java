package io.pipeset.engine.slab;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.protocol.RedisStateMachine;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.encoding.Encoding;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Our reader of replies reads the same values as Lettuce's. */
class ReplyReaderAgainstLettuceTests {

	private static final int REPLIES = 20_000;

	private final long seed = System.nanoTime();

	private final Random random = new Random(this.seed);

	@Test
	void everyReplyHasTheEndAndTheKindThatLettuceReads() {
		RedisStateMachine lettuce = new RedisStateMachine();
		lettuce.setProtocolVersion(ProtocolVersion.RESP3);
		for (int i = 0; i < REPLIES; i++) {
			byte[] reply = reply();
			ByteBuf theirs = Unpooled.buffer().writeBytes(reply).writeBytes(new byte[] { '+', 'N', '\r', '\n' });
			ByteBuf ours = theirs.copy();
			Anything output = new Anything();
			assertThat(lettuce.decode(theirs, output)).isTrue();
			Slab slab = slab();
			int cut = this.random.nextInt(reply.length);
			boolean early = slab.attempt().read(ours.readSlice(cut));
			assertThat(early || slab.attempt().read(ours)).as(text(reply)).isTrue();
			assertThat(ours.readableBytes()).as(text(reply)).isEqualTo(theirs.readableBytes());
			boolean error = reply[0] == '-' || reply[0] == '!';
			assertThat(slab.replies().notableReplies().errors() == 1).as(text(reply)).isEqualTo(error);
			// Lettuce reads a bulk error as a value, which is not what the protocol
			// says.
			if (reply[0] == '-') {
				assertThat(output.hasError()).as(text(reply)).isTrue();
				assertThat(slab.replies().notableReplies().decoder(0, Encoding.UTF8).next()).as(text(reply))
					.isEqualTo(output.getError());
			}
		}
	}

	private String text(byte[] reply) {
		return "seed " + this.seed + ": " + new String(reply, StandardCharsets.ISO_8859_1);
	}

	private byte[] reply() {
		StringBuilder reply = new StringBuilder();
		append(reply, 3, true);
		return reply.toString().getBytes(StandardCharsets.ISO_8859_1);
	}

	private void append(StringBuilder reply, int depth, boolean errors) {
		switch (this.random.nextInt((depth > 0) ? 13 : 9)) {
			case 0 -> reply.append('+').append(word()).append("\r\n");
			case 1 -> reply.append(':').append(this.random.nextLong()).append("\r\n");
			case 2 -> bulk(reply, '$', blob());
			case 3 -> reply.append("$-1\r\n");
			case 4 -> reply.append("_\r\n");
			case 5 -> reply.append(',').append(this.random.nextDouble()).append("\r\n");
			case 6 -> reply.append((this.random.nextBoolean()) ? "#t\r\n" : "#f\r\n");
			case 7 -> bulk(reply, '=', "txt:" + blob());
			case 8 -> {
				if (!errors) {
					reply.append("(").append(this.random.nextLong()).append("\r\n");
				}
				else if (this.random.nextBoolean()) {
					reply.append("-ERR ").append(word()).append("\r\n");
				}
				else {
					bulk(reply, '!', "ERR " + word());
				}
			}
			case 9 -> reply.append("*-1\r\n");
			case 10 -> elements(reply, '*', 1, depth);
			case 11 -> elements(reply, '~', 1, depth);
			default -> elements(reply, '%', 2, depth);
		}
	}

	private void elements(StringBuilder reply, char marker, int each, int depth) {
		int size = this.random.nextInt(4);
		reply.append(marker).append(size).append("\r\n");
		for (int i = 0; i < size * each; i++) {
			append(reply, depth - 1, false);
		}
	}

	private static void bulk(StringBuilder reply, char marker, String text) {
		reply.append(marker).append(text.length()).append("\r\n").append(text).append("\r\n");
	}

	private String word() {
		return "w" + this.random.nextInt(1000);
	}

	/** Random bytes, line ends and markers among them. */
	private String blob() {
		String alphabet = "\r\n+-:$*_0129OK\u0000\u00ff ";
		int length = (this.random.nextInt(100) == 0) ? this.random.nextInt(100_000) : this.random.nextInt(20);
		StringBuilder blob = new StringBuilder();
		for (int i = 0; i < length; i++) {
			blob.append(alphabet.charAt(this.random.nextInt(alphabet.length())));
		}
		return blob.toString();
	}

	private static Slab slab() {
		Slab slab = new Slab();
		slab.clear(false, false);
		Record record = new Record();
		record.begin(0);
		record.operation(Operation.DEL);
		record.argument(new byte[] { 'k' }, 0, 1);
		slab.add(record);
		return slab;
	}

	/** Accepts all values that Lettuce decodes. */
	private static final class Anything extends CommandOutput<byte[], byte[], Object> {

		Anything() {
			super(ByteArrayCodec.INSTANCE, null);
		}

		@Override
		public void set(ByteBuffer bytes) {
		}

		@Override
		public void setSingle(ByteBuffer bytes) {
		}

		@Override
		public void setBigNumber(ByteBuffer bytes) {
		}

		@Override
		public void set(long integer) {
		}

		@Override
		public void set(double number) {
		}

		@Override
		public void set(boolean value) {
		}

		@Override
		public void multi(int count) {
		}

	}

}
