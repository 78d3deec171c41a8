package io.pipeset.pipeline;

import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.EncoderException;
import io.netty.handler.ssl.SslContextBuilder;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What a write that fails says of the slab. */
class ReplyHandlerTests {

	private Socket socket = new Socket();

	private EmbeddedChannel channel = new EmbeddedChannel(this.socket, new ReplyHandler());

	@AfterEach
	void close() {
		ChannelFuture unused = this.channel.close();
	}

	@Test
	void ofWhatTheSocketDidNotTakeOnlyTheFirstWriteMayHaveRunInPart() {
		List<Slab> slabs = List.of(write(false), write(false), write(false), write(false));
		this.socket.takes(1);
		this.socket.breaks();
		assertThat(slabs).extracting(Slab::isWritten).containsExactly(true, true, false, false);
	}

	@Test
	void aTransactionThatTheSocketDidNotTakeAllOfDidNotRun() {
		List<Slab> slabs = List.of(write(true), write(true), write(true));
		this.socket.takes(1);
		this.socket.breaks();
		assertThat(slabs).extracting(Slab::isWritten).containsExactly(true, false, false);
	}

	@Test
	void throughTlsAllThatFailedMayHaveRun() throws Exception {
		this.socket = new Socket();
		this.channel = new EmbeddedChannel(
				SslContextBuilder.forClient().build().newHandler(Unpooled.EMPTY_BUFFER.alloc()), this.socket,
				new ReplyHandler());
		List<Slab> slabs = List.of(write(false), write(false), write(false), write(true));
		this.socket.takes(1);
		this.socket.breaks();
		assertThat(slabs).extracting(Slab::isWritten).containsExactly(true, true, true, false);
	}

	@Test
	void aWriteThatFailsAloneSaysNothingOfOthers() {
		List<Slab> slabs = List.of(write(false), write(false), write(false));
		this.socket.refuses();
		this.socket.breaks();
		assertThat(slabs).extracting(Slab::isWritten).containsExactly(true, true, false);
	}

	@Test
	void whoWroteHearsOfItAfterwards() {
		Slab first = write(false);
		Slab second = slab(false);
		List<Boolean> heard = new ArrayList<>();
		this.channel.write(command(second)).addListener((written) -> {
			heard.add(written.isSuccess());
			heard.add(second.isWritten());
		});
		this.socket.breaks();
		assertThat(heard).containsExactly(false, false);
		assertThat(first.isWritten()).isTrue();
	}

	/** A slab that is encoded and handed to the socket. */
	private Slab write(boolean atomic) {
		Slab slab = slab(atomic);
		ChannelFuture unused = this.channel.write(command(slab));
		return slab;
	}

	private static SlabCommand command(Slab slab) {
		return new SlabCommand(slab, new Pipeline(null, null, null), (done) -> {
		});
	}

	private static Slab slab(boolean atomic) {
		Slab slab = new Slab();
		slab.clear(false, atomic);
		Record record = new Record();
		record.begin(0);
		record.operation(Operation.SET);
		for (String word : List.of("key", "value")) {
			byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
			record.argument(bytes, 0, bytes.length);
		}
		assertThat(slab.add(record)).isTrue();
		return slab;
	}

	/** Takes writes when it is told to. */
	private static final class Socket extends ChannelOutboundHandlerAdapter {

		private final List<ChannelPromise> writes = new ArrayList<>();

		private @Nullable Channel channel;

		@Override
		public void handlerAdded(ChannelHandlerContext ctx) {
			this.channel = ctx.channel();
		}

		@Override
		public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
			if (message instanceof SlabCommand command) {
				command.encode(Unpooled.buffer());
				this.writes.add(promise);
			}
			else {
				ChannelFuture unused = ctx.write(message, promise);
			}
		}

		void takes(int count) {
			for (int i = 0; i < count; i++) {
				this.writes.remove(0).setSuccess();
			}
		}

		void refuses() {
			this.writes.remove(0).setFailure(new EncoderException());
		}

		void breaks() {
			ChannelFuture unused = this.channel.close();
			this.writes.forEach((write) -> write.setFailure(new ClosedChannelException()));
		}

	}

}
