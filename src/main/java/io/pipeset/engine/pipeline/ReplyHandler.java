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
 * Stands between Lettuce's encoder and its command handler on every connection. An
 * {@link Exchange}, such as that of a slab, is a single command to Lettuce but many to
 * Redis. So this handler has the exchange read its replies, and hands Lettuce one reply
 * for all of them. It sees exchanges on their way out, and so knows which one the next
 * replies are for. While none is on its way, everything passes untouched.
 * <p>
 * A reply that is counted for the wrong command would falsify the outcomes of all
 * commands behind it, so the handler takes nothing on trust. It writes an exchange only
 * while no other command waits for an answer. It closes the connection, with its
 * exchanges unanswered, as soon as a reply does not fit or one could not be written.
 */
public final class ReplyHandler extends ChannelDuplexHandler {

	private static final Logger logger = LoggerFactory.getLogger(ReplyHandler.class);

	private static final ByteBuf COMPLETION = Unpooled
		.unreleasableBuffer(Unpooled.directBuffer(5).writeBytes(new byte[] { '+', 'O', 'K', '\r', '\n' }))
		.asReadOnly();

	private final Queue<ExchangeCommand> onTheirWay = new ArrayDeque<>();

	/**
	 * Lettuce's own queue of the commands that are to be answered, including the command
	 * that is being written.
	 */
	private final Queue<RedisCommand<?, ?, ?>> unanswered;

	/** Whether a write has failed because the channel ended; all behind it fail too. */
	private boolean failing;

	private boolean givenUp;

	ReplyHandler(Queue<RedisCommand<?, ?, ?>> unanswered) {
		this.unanswered = unanswered;
	}

	/**
	 * Puts a handler into a connection that is being opened, whose other handlers Lettuce
	 * has put there.
	 */
	public static void addTo(Channel channel) {
		ChannelPipeline pipeline = channel.pipeline();
		ChannelHandlerContext commands = pipeline.context(CommandHandler.class);
		pipeline.addBefore(commands.name(), ReplyHandler.class.getSimpleName(),
				new ReplyHandler(((CommandHandler) commands.handler()).getStack()));
	}

	@Override
	public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) throws Exception {
		if (this.givenUp || !ctx.channel().isActive()) {
			// Not encoded, so that nobody has to take it for written.
			promise.tryFailure(new ClosedChannelException());
		}
		else if (message instanceof ExchangeCommand exchange) {
			write(ctx, exchange, promise);
		}
		else if (this.onTheirWay.isEmpty()) {
			super.write(ctx, message, promise);
		}
		else {
			promise.tryFailure(new IllegalStateException(
					message + " cannot be sent between exchanges: their replies could not be told from its own"));
		}
	}

	private void write(ChannelHandlerContext ctx, ExchangeCommand exchange, ChannelPromise promise) {
		int others = this.unanswered.size() - this.onTheirWay.size() - 1;
		if (others > 0) {
			String owed = "A connection was lent again on which Redis still owes "
					+ ((others == 1) ? "an answer" : others + " answers");
			logger.warn("{}: it is closed, and the batch goes to another one", owed);
			giveUp(ctx);
			promise.tryFailure(new IllegalStateException(owed));
			return;
		}
		this.onTheirWay.add(exchange);
		ChannelFuture unused = ctx.write(exchange, watch(ctx, exchange.exchange(), promise));
	}

	/**
	 * A promise that tells an exchange, before Lettuce, if the socket did not take all of
	 * it.
	 */
	private ChannelPromise watch(ChannelHandlerContext ctx, Exchange exchange, ChannelPromise promise) {
		// TLS puts many writes into one, which fail together.
		boolean encrypted = ctx.pipeline().get(SslHandler.class) != null;
		ChannelPromise watched = ctx.newPromise();
		watched.addListener((written) -> {
			if (!written.isSuccess()) {
				boolean encoded = !(written.cause() instanceof EncoderException);
				if (encoded && (!this.failing || encrypted)) {
					exchange.endWasNotSent();
				}
				else {
					exchange.nothingWasSent();
				}
				// A write that fails on an open channel fails alone, and says nothing of
				// others.
				this.failing |= !ctx.channel().isActive();
				giveUp(ctx);
			}
		});
		return watched.addListener(new PromiseNotifier<>(promise));
	}

	/**
	 * Keeps Lettuce from taking a connection that ended during its handshake for an open
	 * one, for good.
	 */
	@Override
	public void channelActive(ChannelHandlerContext ctx) throws Exception {
		if (ctx.channel().isActive()) {
			super.channelActive(ctx);
		}
	}

	/**
	 * Ends the handshake of a connection that was refused: Lettuce would wait for it, and
	 * give it up on an event loop that may have ended by then.
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
		ExchangeCommand first = this.onTheirWay.peek();
		if (this.givenUp) {
			in.release();
		}
		else if (first != null) {
			try {
				first.heard();
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
			boolean asked = !this.unanswered.isEmpty() || isPush(in);
			super.channelRead(ctx, message);
			if (!asked) {
				doesNotFit(ctx, "Redis sent a reply that nothing had asked for");
			}
		}
	}

	private void readReplies(ChannelHandlerContext ctx, ByteBuf in, ExchangeCommand first) {
		@Nullable ExchangeCommand next = first;
		while (next != null && in.isReadable()) {
			if (next != this.unanswered.peek() || next.isDone()) {
				throw doesNotFit(ctx, "Redis answered commands whose replies are not waited for");
			}
			if (!next.exchange().read(in)) {
				return;
			}
			if (this.onTheirWay.size() == 1 && in.isReadable() && !isPush(in)) {
				next.exchange().forgetReplies();
				throw doesNotFit(ctx, "Redis sent more replies than it was sent commands");
			}
			this.onTheirWay.remove();
			ctx.fireChannelRead(COMPLETION.duplicate());
			next = this.onTheirWay.peek();
		}
	}

	/** Whether a push comes next. Nobody subscribes here, but a server might push. */
	private static boolean isPush(ByteBuf in) {
		return in.isReadable() && in.getByte(in.readerIndex()) == '>';
	}

	private DecoderException doesNotFit(ChannelHandlerContext ctx, String what) {
		logger.warn("{}: the connection is closed, and what was on its way on it is unknown", what);
		giveUp(ctx);
		return new DecoderException(what);
	}

	/** Closes the connection; replies that still come are dropped. */
	private void giveUp(ChannelHandlerContext ctx) {
		this.givenUp = true;
		ChannelFuture unused = ctx.close();
	}

	@Override
	public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
		this.givenUp = true;
		super.exceptionCaught(ctx, cause);
		giveUp(ctx);
	}

}
