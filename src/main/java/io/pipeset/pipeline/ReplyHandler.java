package io.pipeset.pipeline;

import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Queue;

import io.lettuce.core.protocol.CommandHandler;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.PromiseNotifier;
import org.jspecify.annotations.Nullable;

/**
 * Stands between Lettuce's encoder and its command handler on every connection. A slab is
 * a single command to Lettuce but many to Redis, so the replies to it are counted off
 * here and Lettuce is handed one for all of them. It meets the slabs on their way out,
 * which is how it knows whose replies come next; while none is on its way, everything
 * passes untouched.
 */
final class ReplyHandler extends ChannelDuplexHandler {

	private static final ByteBuf COMPLETION = Unpooled
		.unreleasableBuffer(Unpooled.directBuffer(5).writeBytes(new byte[] { '+', 'O', 'K', '\r', '\n' }))
		.asReadOnly();

	private final Queue<SlabCommand> onTheirWay = new ArrayDeque<>();

	private final ReplyReader reader = new ReplyReader();

	/** Whether the channel's end has failed a write, and so fails all behind it. */
	private boolean failing;

	static void addTo(Channel channel) {
		ChannelPipeline pipeline = channel.pipeline();
		pipeline.addBefore(pipeline.context(CommandHandler.class).name(), ReplyHandler.class.getSimpleName(),
				new ReplyHandler());
	}

	@Override
	public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) throws Exception {
		if (!ctx.channel().isActive()) {
			// Not encoded, so that nobody has to take it for written.
			promise.tryFailure(new ClosedChannelException());
			return;
		}
		if (message instanceof Collection<?> commands) {
			commands.forEach(this::meet);
		}
		else {
			meet(message);
		}
		super.write(ctx, message,
				(message instanceof SlabCommand command) ? watch(ctx, command.slab(), promise) : promise);
	}

	/** A promise that tells a slab, before Lettuce, if the socket did not take it all. */
	private ChannelPromise watch(ChannelHandlerContext ctx, Slab slab, ChannelPromise promise) {
		// TLS puts many writes into one, which fail together.
		boolean encrypted = ctx.pipeline().get(SslHandler.class) != null;
		ChannelPromise watched = ctx.newPromise();
		watched.addListener((written) -> {
			if (!written.isSuccess()) {
				slab.notTaken(this.failing && !encrypted);
				// What fails on an open channel fails alone, and says nothing of others.
				this.failing |= !ctx.channel().isActive();
			}
		});
		return watched.addListener(new PromiseNotifier<>(promise));
	}

	private void meet(Object message) {
		if (message instanceof SlabCommand slab) {
			this.onTheirWay.add(slab);
		}
		else if (!this.onTheirWay.isEmpty()) {
			throw new IllegalStateException(
					message + " cannot be sent between slabs: their replies could not be told" + " from its own");
		}
	}

	/**
	 * Keeps a connection that ended during its handshake from being taken for an open
	 * one, which it would be for good.
	 */
	@Override
	public void channelActive(ChannelHandlerContext ctx) throws Exception {
		if (ctx.channel().isActive()) {
			super.channelActive(ctx);
		}
	}

	@Override
	public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
		SlabCommand next = this.onTheirWay.peek();
		if (next == null) {
			super.channelRead(ctx, message);
			return;
		}
		ByteBuf in = (ByteBuf) message;
		try {
			next.heard();
			readReplies(ctx, in, next);
			if (in.isReadable()) {
				ctx.fireChannelRead(in.readRetainedSlice(in.readableBytes()));
			}
		}
		finally {
			in.release();
		}
	}

	private void readReplies(ChannelHandlerContext ctx, ByteBuf in, SlabCommand first) {
		@Nullable SlabCommand next = first;
		while (next != null && in.isReadable() && this.reader.read(in, next.slab())) {
			this.onTheirWay.remove();
			ctx.fireChannelRead(COMPLETION.duplicate());
			next = this.onTheirWay.peek();
		}
	}

	@Override
	public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
		super.exceptionCaught(ctx, cause);
		ChannelFuture unused = ctx.close();
	}

}
