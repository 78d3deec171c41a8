package io.pipeset.redis;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * Stands between a client and a Redis, and breaks what is between them at a place that is
 * counted in messages and bytes, not in time. One thread moves all bytes, so that a place
 * is reached once.
 *
 * <p>
 * The benchmark has a proxy of its own that does nothing but delay, and does it to the
 * microsecond, which a selector's timer does not.
 */
public final class FaultProxy implements AutoCloseable {

	private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("proxy", true),
			NioIoHandler.newFactory());

	private final EventLoop loop = this.group.next();

	private final Set<ProxyLink> links = ConcurrentHashMap.newKeySet();

	private final InetSocketAddress server;

	private final Channel listener;

	private volatile long delayNanos;

	private volatile int pieceBytes = Integer.MAX_VALUE;

	/** Touched by the loop only. */
	private @Nullable ProxyPlace place;

	private FaultProxy(InetSocketAddress server) {
		this.server = server;
		this.listener = new ServerBootstrap().group(this.group)
			.channel(NioServerSocketChannel.class)
			.childOption(ChannelOption.AUTO_READ, false)
			.childOption(ChannelOption.TCP_NODELAY, true)
			.childHandler(new ChannelInitializer<SocketChannel>() {

				@Override
				protected void initChannel(SocketChannel client) {
					link(client);
				}

			})
			.bind("127.0.0.1", 0)
			.syncUninterruptibly()
			.channel();
	}

	/**
	 * Opens a proxy that forwards everything.
	 * @param redis where to
	 * @return the proxy, to be closed by the test
	 */
	public static FaultProxy open(TestRedis redis) {
		return new FaultProxy(new InetSocketAddress(redis.host(), redis.port()));
	}

	/**
	 * The port it listens on, at 127.0.0.1.
	 * @return the port
	 */
	public int port() {
		return ((InetSocketAddress) this.listener.localAddress()).getPort();
	}

	/**
	 * The connections it has open.
	 * @return the count, with those that are stopped
	 */
	public int links() {
		return this.links.size();
	}

	/**
	 * Stops a connection at a place, counted from now on over all connections.
	 * @param way the direction to count in, and to stop
	 * @param messages how many may pass, handshakes included
	 * @param bytes how much of what comes next on that connection may pass too
	 * @return done when the place is reached, by the proxy's thread; what is hung on it
	 * sees all before the place forwarded and nothing behind it
	 */
	public CompletableFuture<ProxyLink> stopAt(Way way, long messages, int bytes) {
		ProxyPlace next = ProxyPlace.of(way, messages, bytes);
		call(() -> this.place = next);
		return next.reached();
	}

	/** Stops all connections, those to come included. */
	public void stopAll() {
		call(() -> this.place = ProxyPlace.everywhere());
	}

	/**
	 * Makes everything late from now on, in each direction.
	 * @param delay for how long
	 */
	public void delay(Duration delay) {
		this.delayNanos = delay.toNanos();
	}

	/**
	 * Makes everything slow from now on, in each direction.
	 * @param bytes how many a connection may move in a millisecond
	 */
	public void slow(int bytes) {
		this.pieceBytes = bytes;
	}

	/** Breaks all connections. */
	public void resetAll() {
		call(() -> {
			this.links.forEach(ProxyLink::resetNow);
			return null;
		});
	}

	/**
	 * Forwards everything again. What stopped connections have held back reaches Redis if
	 * their client still waits for it, and nobody else.
	 */
	public void heal() {
		hear();
		this.delayNanos = 0;
		this.pieceBytes = Integer.MAX_VALUE;
		call(() -> {
			this.place = null;
			this.links.forEach(ProxyLink::healNow);
			return null;
		});
	}

	@Override
	public void close() {
		resetAll();
		this.group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
	}

	private void link(SocketChannel client) {
		ProxyLink link = new ProxyLink(this, client);
		this.links.add(link);
		ChannelFuture connect = new Bootstrap().group(this.group)
			.channel(NioSocketChannel.class)
			.option(ChannelOption.AUTO_READ, false)
			.option(ChannelOption.TCP_NODELAY, true)
			.handler(new ChannelInitializer<SocketChannel>() {

				@Override
				protected void initChannel(SocketChannel server) {
					link.open(server);
				}

			})
			.connect(this.server);
		connect.addListener((done) -> {
			if (done.isSuccess()) {
				link.start();
			}
			else {
				link.resetNow();
			}
		});
	}

	void closed(ProxyLink link) {
		this.links.remove(link);
	}

	long delayNanos() {
		return this.delayNanos;
	}

	int pieceBytes() {
		return this.pieceBytes;
	}

	/**
	 * How much of a buffer may pass.
	 * @return all of it, unless the place is in it
	 */
	int admit(ProxyFlow flow, ByteBuf buffer, int most) {
		int end = buffer.readerIndex() + Math.min(buffer.readableBytes(), most);
		for (int at = buffer.readerIndex(); at < end; at++) {
			if (this.place != null && this.place.isHere(flow)) {
				return at - buffer.readerIndex();
			}
			boolean messageEnds = flow.messages().endsWith(buffer.getByte(at));
			if (this.place != null) {
				this.place.passed(flow, messageEnds);
			}
		}
		return end - buffer.readerIndex();
	}

	/**
	 * Whether a connection has come to the place.
	 * @return done by whoever the place stops; {@code null} where it goes on
	 */
	@Nullable CompletableFuture<ProxyLink> stops(ProxyFlow flow) {
		ProxyPlace here = this.place;
		if (here == null || !here.isHere(flow)) {
			return null;
		}
		if (!here.isEverywhere()) {
			this.place = null;
		}
		return here.reached();
	}

	/**
	 * Waits until the proxy's thread has seen which of its clients are gone: it looks at
	 * its connections between any two of its rounds, and a delayed task waits for the
	 * next.
	 */
	private void hear() {
		for (int round = 0; round < 2; round++) {
			this.loop.schedule(() -> null, 1, TimeUnit.MILLISECONDS).syncUninterruptibly();
		}
	}

	/** Has the proxy's thread do something, and waits for it. */
	<T> void call(Callable<T> task) {
		if (this.loop.inEventLoop()) {
			try {
				task.call();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}
		else {
			this.loop.submit(task).syncUninterruptibly();
		}
	}

	@Override
	public String toString() {
		return "proxy of " + this.links;
	}

	/** A direction. */
	public enum Way {

		/** To Redis. */
		COMMANDS,

		/** From Redis. */
		REPLIES

	}

}
