package io.pipeset.engine.pipeline;

import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.Queue;

import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.protocol.RedisHandshakeHandler;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.EncoderException;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.PromiseNotifier;
import io.pipeset.engine.slab.Exchange;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the replies to {@link Exchange exchanges}, between Lettuce's encoder and its
 * command handler on every connection. An exchange, such as that of a slab, is a single
 * command to Lettuce but many commands to Redis. So this handler lets the exchange read
 * its replies, and passes Lettuce one reply for all of them. It sees each exchange when
 * it is written, so it knows which exchange the next replies belong to. While no exchange
 * is in flight, everything passes unchanged.
 * <p>
 * If one reply were counted for the wrong command, the outcomes of all later commands
 * would be wrong. So the handler writes an exchange only while no other command waits for
 * a reply. It closes the connection and leaves its exchanges unanswered as soon as a
 * reply does not fit or a write fails.
 */
public final class ReplyHandler extends ChannelDuplexHandler {

	private static final Logger logger = LoggerFactory.getLogger(ReplyHandler.class);

	private static final ByteBuf COMPLETION = Unpooled
		.unreleasableBuffer(Unpooled.directBuffer(5).writeBytes(new byte[] { '+', 'O', 'K', '\r', '\n' }))
		.asReadOnly();

	private final Queue<ExchangeCommand> inFlight = new ArrayDeque<>();

	/**
	 * Lettuce's own queue of commands that wait for a reply, including the command that
	 * is being written.
	 */
	private final Queue<RedisCommand<?, ?, ?>> unanswered;

	/**
	 * Whether a write has failed because the channel ended. All later writes fail too.
	 */
	private boolean channelEnded;

	private boolean closing;

	ReplyHandler(Queue<RedisCommand<?, ?, ?>> unanswered) {
		this.unanswered = unanswered;
	}

	/**
	 * Adds a handler to a connection that is being opened, after Lettuce has added its
	 * own.
	 */
	public static void addTo(Channel channel) {
		ChannelPipeline pipeline = channel.pipeline();
		ChannelHandlerContext commands = pipeline.context(CommandHandler.class);
		pipeline.addBefore(commands.name(), ReplyHandler.class.getSimpleName(),
				new ReplyHandler(((CommandHandler) commands.handler()).getStack()));
	}

	@Override
	public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) throws Exception {
		if (this.closing || !ctx.channel().isActive()) {
			// Do not encode it, so that it certainly counts as not written.
			promise.tryFailure(new ClosedChannelException());
		}
		else if (message instanceof ExchangeCommand exchange) {
			write(ctx, exchange, promise);
		}
		else if (this.inFlight.isEmpty()) {
			super.write(ctx, message, promise);
		}
		else {
			promise.tryFailure(new IllegalStateException(message
					+ " cannot be sent between exchanges, because its reply could not be distinguished from theirs"));
		}
	}

	private void write(ChannelHandlerContext ctx, ExchangeCommand exchange, ChannelPromise promise) {
		int others = this.unanswered.size() - this.inFlight.size() - 1;
		if (others > 0) {
			String owed = "The pool lent a connection on which Redis still owes "
					+ ((others == 1) ? "an answer" : others + " answers");
			logger.warn("{}: the connection is closed, and the batch uses another one", owed);
			closeChannel(ctx);
			promise.tryFailure(new IllegalStateException(owed));
			return;
		}
		this.inFlight.add(exchange);
		ChannelFuture unused = ctx.write(exchange, notifyOnFailure(ctx, exchange.exchange(), promise));
	}

	/**
	 * Returns a promise that notifies the exchange, before Lettuce, if the socket did not
	 * accept the whole write.
	 */
	private ChannelPromise notifyOnFailure(ChannelHandlerContext ctx, Exchange exchange, ChannelPromise promise) {
		// TLS combines many writes into one, and they fail together.
		boolean encrypted = ctx.pipeline().get(SslHandler.class) != null;
		ChannelPromise notifying = ctx.newPromise();
		notifying.addListener((written) -> {
			if (!written.isSuccess()) {
				boolean encoded = !(written.cause() instanceof EncoderException);
				if (encoded && (!this.channelEnded || encrypted)) {
					exchange.endWasNotSent();
				}
				else {
					exchange.nothingWasSent();
				}
				// If a write fails on an open channel, other writes may still succeed.
				this.channelEnded |= !ctx.channel().isActive();
				closeChannel(ctx);
			}
		});
		return notifying.addListener(new PromiseNotifier<>(promise));
	}

	/**
	 * Skips the activation if the connection ended during its handshake. Otherwise
	 * Lettuce would consider the connection open forever.
	 */
	@Override
	public void channelActive(ChannelHandlerContext ctx) throws Exception {
		if (ctx.channel().isActive()) {
			super.channelActive(ctx);
		}
	}

	/**
	 * Ends the handshake of a refused connection. Otherwise Lettuce waits for the
	 * handshake, and times it out on an event loop that may have ended by then.
	 */
	@Override
	public void channelUnregistered(ChannelHandlerContext ctx) throws Exception {
		RedisHandshakeHandler handshake = ctx.pipeline().get(RedisHandshakeHandler.class);
		if (handshake != null) {
			handshake.channelInitialized().toCompletableFuture().completeExceptionally(new ClosedChannelException());
		}
		super.channelUnregistered(ctx);
	}

	@Override
	public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
		ByteBuf in = (ByteBuf) message;
		ExchangeCommand first = this.inFlight.peek();
		if (this.closing) {
			in.release();
		}
		else if (first != null) {
			try {
				first.markRead();
				readReplies(ctx, in, first);
				if (in.isReadable()) {
					ctx.fireChannelRead(in.readRetainedSlice(in.readableBytes()));
				}
			}
			finally {
				in.release();
			}
		}
		else {
			boolean expected = !this.unanswered.isEmpty() || isPush(in);
			super.channelRead(ctx, message);
			if (!expected) {
				closeOnMismatch(ctx, "Redis sent a reply although no command waited for one");
			}
		}
	}

	private void readReplies(ChannelHandlerContext ctx, ByteBuf in, ExchangeCommand first) {
		@Nullable ExchangeCommand next = first;
		while (next != null && in.isReadable()) {
			if (next != this.unanswered.peek() || next.isDone()) {
				throw closeOnMismatch(ctx, "Redis answered commands whose replies are no longer expected");
			}
			if (!next.exchange().read(in)) {
				return;
			}
			if (this.inFlight.size() == 1 && in.isReadable() && !isPush(in)) {
				next.exchange().forgetReplies();
				throw closeOnMismatch(ctx, "Redis sent more replies than it got commands");
			}
			this.inFlight.remove();
			ctx.fireChannelRead(COMPLETION.duplicate());
			next = this.inFlight.peek();
		}
	}

	/**
	 * Whether the next reply is a push. The service never subscribes, but a server might
	 * push.
	 */
	private static boolean isPush(ByteBuf in) {
		return in.isReadable() && in.getByte(in.readerIndex()) == '>';
	}

	private DecoderException closeOnMismatch(ChannelHandlerContext ctx, String problem) {
		logger.warn("{}: the connection is closed, and its commands in flight may or may not have run", problem);
		closeChannel(ctx);
		return new DecoderException(problem);
	}

	/** Closes the connection. Replies that still come are dropped. */
	private void closeChannel(ChannelHandlerContext ctx) {
		this.closing = true;
		ChannelFuture unused = ctx.close();
	}

	@Override
	public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
		this.closing = true;
		super.exceptionCaught(ctx, cause);
		closeChannel(ctx);
	}

}
