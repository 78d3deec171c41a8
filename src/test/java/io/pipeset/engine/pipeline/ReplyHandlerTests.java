package io.pipeset.engine.pipeline;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.EncoderException;
import io.netty.handler.ssl.SslContextBuilder;
import io.pipeset.engine.pipeline.call.ConnectionLender;
import io.pipeset.engine.slab.Slab;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A failed write determines which commands of a slab may have run. A reply is counted for
 * a slab only if it cannot belong to another command.
 */
class ReplyHandlerTests {

	/** The commands that wait for a reply. The test adds its own, as Lettuce does. */
	private final Queue<RedisCommand<?, ?, ?>> unanswered = new ArrayDeque<>();

	private Socket socket = new Socket();

	private EmbeddedChannel channel = new EmbeddedChannel(this.socket, new ReplyHandler(this.unanswered));

	@AfterEach
	void close() {
		ChannelFuture unused = this.channel.close();
		this.channel.releaseOutbound();
		this.channel.releaseInbound();
	}

	@Test
	void onlyTheFirstFailedWriteMayHaveRunInPart() {
		List<Slab> slabs = List.of(write(false), write(false), write(false), write(false));
		this.socket.completes(1);
		this.socket.breaks();
		assertThat(slabs).extracting(Slab::isWritten).containsExactly(true, true, false, false);
	}

	@Test
	void aTransactionThatWasWrittenInPartDidNotRun() {
		List<Slab> slabs = List.of(write(true), write(true), write(true));
		this.socket.completes(1);
		this.socket.breaks();
		assertThat(slabs).extracting(Slab::isWritten).containsExactly(true, false, false);
	}

	@Test
	void withTlsEveryFailedWriteMayHaveRun() throws Exception {
		this.socket = new Socket();
		this.channel = new EmbeddedChannel(
				SslContextBuilder.forClient().build().newHandler(Unpooled.EMPTY_BUFFER.alloc()), this.socket,
				new ReplyHandler(this.unanswered));
		List<Slab> slabs = List.of(write(false), write(false), write(false), write(true));
		this.socket.completes(1);
		this.socket.breaks();
		assertThat(slabs).extracting(Slab::isWritten).containsExactly(true, true, true, false);
	}

	@Test
	void aWriteThatFailsOnAnOpenChannelDoesNotAffectOthers() {
		List<Slab> slabs = List.of(write(false), write(false), write(false));
		this.socket.failsNext(new IOException());
		this.socket.breaks();
		assertThat(slabs).extracting(Slab::isWritten).containsExactly(true, true, false);
	}

	@Test
	void aSlabThatCannotBeEncodedIsNotWritten() {
		List<Slab> slabs = List.of(write(false), write(false));
		this.socket.failsNext(new EncoderException());
		this.socket.breaks();
		assertThat(slabs).extracting(Slab::isWritten).containsExactly(false, true);
	}

	@Test
	void noReplyIsCountedAfterAFailedWrite() {
		this.socket.closesLate = true;
		Slab first = write(false);
		Slab second = write(false);
		this.socket.failsNext(new EncoderException());
		assertThat(this.socket.isClosing).isTrue();
		assertThat(this.channel.writeInbound(replies("+OK\r\n"))).isFalse();
		assertThat(List.of(first, second)).noneMatch(Slab::isAnswered);
		assertThat(write(false).isWritten()).isFalse();
	}

	@Test
	void aSlabIsNotWrittenWhileAnotherCommandIsUnanswered() {
		this.unanswered.add(new Command<>(CommandType.INFO, new StatusOutput<>(ByteArrayCodec.INSTANCE)));
		Slab slab = slab(false);
		ChannelFuture written = write(slab);
		assertThat(written.cause()).hasMessageContaining("Redis still owes an answer");
		assertThat(slab.isWritten()).isFalse();
		assertThat(this.channel.isOpen()).isFalse();
	}

	@Test
	void aSlabIsWrittenWhileOtherSlabsAreUnanswered() {
		write(false);
		assertThat(write(false).isWritten()).isTrue();
		assertThat(this.channel.isOpen()).isTrue();
	}

	@Test
	void noReplyIsCountedForASlabThatHasComeBack() {
		Slab slab = write(false);
		this.unanswered.remove().completeExceptionally(new IOException());
		assertThatExceptionOfType(DecoderException.class)
			.isThrownBy(() -> this.channel.writeInbound(replies("+OK\r\n")))
			.withMessageContaining("no longer expected");
		assertThat(slab.isAnswered()).isFalse();
		assertThat(this.channel.isOpen()).isFalse();
	}

	@Test
	void ifThereAreMoreRepliesThanCommandsAllOutcomesAreUnknown() {
		Slab slab = write(false);
		assertThatExceptionOfType(DecoderException.class)
			.isThrownBy(() -> this.channel.writeInbound(replies("$5\r\nvalue\r\n+OK\r\n")))
			.withMessageContaining("more replies");
		assertThat(slab.isUnknown()).isTrue();
		assertThat(this.channel.isOpen()).isFalse();
	}

	@Test
	void anUnexpectedReplyClosesTheConnection() {
		this.channel.writeInbound(replies(">1\r\n+news\r\n"));
		assertThat(this.channel.isOpen()).isTrue();
		this.channel.writeInbound(replies("+OK\r\n"));
		assertThat(this.channel.isOpen()).isFalse();
	}

	@Test
	void theSlabIsMarkedBeforeTheWritersPromiseFails() {
		Slab first = write(false);
		Slab second = slab(false);
		List<Boolean> observed = new ArrayList<>();
		write(second).addListener((written) -> {
			observed.add(written.isSuccess());
			observed.add(second.isWritten());
		});
		this.socket.breaks();
		assertThat(observed).containsExactly(false, false);
		assertThat(first.isWritten()).isTrue();
	}

	/** Encodes a slab and passes it to the socket. */
	private Slab write(boolean atomic) {
		Slab slab = slab(atomic);
		ChannelFuture unused = write(slab);
		return slab;
	}

	private ChannelFuture write(Slab slab) {
		ExchangeCommand command = command(slab);
		this.unanswered.add(command);
		return this.channel.write(command);
	}

	private static ByteBuf replies(String resp) {
		return Unpooled.copiedBuffer(resp, StandardCharsets.US_ASCII);
	}

	private static ExchangeCommand command(Slab slab) {
		return new ExchangeCommand(slab.attempt(),
				new Pipeline(null, null, null, null, new ConnectionLender(null, null, 1, "any:1", null)), () -> {
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

	/** A socket that completes writes when the test says so. */
	private static final class Socket extends ChannelOutboundHandlerAdapter {

		private final List<ChannelPromise> writes = new ArrayList<>();

		private @Nullable Channel channel;

		/** Whether closing is delayed, as with TLS. */
		private boolean closesLate;

		private boolean isClosing;

		@Override
		public void handlerAdded(ChannelHandlerContext ctx) {
			this.channel = ctx.channel();
		}

		@Override
		public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
			if (message instanceof ExchangeCommand command) {
				command.encode(Unpooled.buffer());
				this.writes.add(promise);
			}
			else {
				ChannelFuture unused = ctx.write(message, promise);
			}
		}

		void completes(int count) {
			for (int i = 0; i < count; i++) {
				this.writes.remove(0).setSuccess();
			}
		}

		void failsNext(Throwable cause) {
			this.writes.remove(0).setFailure(cause);
		}

		@Override
		public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
			this.isClosing = true;
			if (!this.closesLate) {
				ChannelFuture unused = ctx.close(promise);
			}
		}

		void breaks() {
			ChannelFuture unused = this.channel.close();
			this.writes.forEach((write) -> write.setFailure(new ClosedChannelException()));
		}

	}

}
