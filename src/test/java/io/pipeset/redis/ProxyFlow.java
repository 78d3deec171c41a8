package io.pipeset.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.pipeset.redis.FaultProxy.Way;

/**
 * One direction of a connection through a {@link FaultProxy}. The flow is always read,
 * even if it is stopped, or else nobody would notice its end. It keeps no more bytes than
 * the service's window lets the service send.
 */
final class ProxyFlow extends ChannelInboundHandlerAdapter {

	private final FaultProxy proxy;

	private final ProxyLink link;

	private final Way way;

	private final RespMessages messages = new RespMessages();

	private final Deque<ByteBuf> pieces = new ArrayDeque<>();

	private final Channel source;

	private final Channel target;

	/** The first message, with what came together with it. */
	private final StringBuilder greeting = new StringBuilder();

	private final AtomicInteger forwarded = new AtomicInteger();

	private boolean stopped;

	private boolean resting;

	private boolean ended;

	private boolean dropped;

	private boolean pumping;

	ProxyFlow(FaultProxy proxy, ProxyLink link, Way way, Channel source, Channel target) {
		this.proxy = proxy;
		this.link = link;
		this.way = way;
		this.source = source;
		this.target = target;
	}

	Way way() {
		return this.way;
	}

	boolean isOf(String client) {
		return this.link.isOf(client);
	}

	RespMessages messages() {
		return this.messages;
	}

	/** The number of messages that were forwarded whole. */
	int forwarded() {
		return this.forwarded.get();
	}

	void messageEnds() {
		if (this.forwarded.getAndIncrement() == 0 && this.way == Way.COMMANDS) {
			this.link.greets(this.greeting.toString());
		}
	}

	boolean hasEnded() {
		return this.ended;
	}

	@Override
	public void channelRead(ChannelHandlerContext ctx, Object message) {
		ByteBuf piece = (ByteBuf) message;
		long delay = this.proxy.delayNanos();
		if (delay > 0) {
			Future<?> unused = ctx.executor().schedule(() -> arrive(piece), delay, TimeUnit.NANOSECONDS);
		}
		else {
			arrive(piece);
		}
	}

	@Override
	public void channelInactive(ChannelHandlerContext ctx) {
		long delay = this.proxy.delayNanos();
		Future<?> unused = ctx.executor().schedule(() -> {
			this.ended = true;
			pump();
		}, delay, TimeUnit.NANOSECONDS);
	}

	@Override
	public void channelWritabilityChanged(ChannelHandlerContext ctx) {
		this.link.other(this).pump();
	}

	@Override
	public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
		// A reset by one side is passed on to the other side.
		this.link.resetNow();
	}

	void stop() {
		this.stopped = true;
	}

	void goOn() {
		this.stopped = false;
		pump();
	}

	void drop() {
		this.dropped = true;
		this.pieces.forEach(ReferenceCountUtil::release);
		this.pieces.clear();
	}

	private void arrive(ByteBuf piece) {
		if (this.dropped) {
			piece.release();
			return;
		}
		if (this.forwarded.get() == 0) {
			this.greeting.append(piece.toString(StandardCharsets.ISO_8859_1));
		}
		this.pieces.add(piece);
		pump();
	}

	private void pump() {
		if (this.pumping) {
			// A write in the loop below may make room, upon which this method is called
			// again.
			return;
		}
		this.pumping = true;
		CompletableFuture<ProxyLink> reached = null;
		while (reached == null && !this.stopped && !this.resting && !this.pieces.isEmpty()
				&& this.target.isWritable()) {
			reached = forward(this.pieces.peek());
		}
		this.pumping = false;
		if (!this.target.isOpen()) {
			drop();
		}
		if (this.ended && this.pieces.isEmpty() && !this.stopped) {
			ChannelFuture unused = this.target.writeAndFlush(Unpooled.EMPTY_BUFFER)
				.addListener(ChannelFutureListener.CLOSE);
		}
		if (reached != null) {
			reached.complete(this.link);
		}
	}

	/** Forwards the bytes of a piece that may pass. */
	private CompletableFuture<ProxyLink> forward(ByteBuf piece) {
		int most = this.proxy.pieceBytes();
		int passes = this.proxy.admit(this, piece, most);
		if (passes > 0) {
			ChannelFuture unused = this.target.writeAndFlush(piece.readRetainedSlice(passes));
		}
		if (!piece.isReadable()) {
			this.pieces.remove().release();
		}
		CompletableFuture<ProxyLink> reached = this.proxy.stops(this);
		if (reached != null) {
			this.stopped = true;
		}
		else if (most != Integer.MAX_VALUE) {
			this.resting = true;
			Future<?> unused = this.source.eventLoop().schedule(() -> {
				this.resting = false;
				pump();
			}, 1, TimeUnit.MILLISECONDS);
		}
		return reached;
	}

	@Override
	public String toString() {
		return "[" + this.pieces.size() + " kept" + ((this.stopped) ? ", stopped" : "")
				+ ((this.ended) ? ", ended" : "") + ((this.target.isWritable()) ? "" : ", not writable") + "]";
	}

}
