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
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
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
 * A proxy between a client and a Redis, which breaks their connections at a place that is
 * counted in messages and bytes, not in time. One thread moves all bytes, so that only
 * one connection reaches a place.
 *
 * <p>
 * The benchmark has a proxy of its own. That one only delays, but to the microsecond, for
 * which a selector's timer is too coarse.
 */
public final class FaultProxy implements AutoCloseable {

	/**
	 * The proxy looks at each byte. A test that has leaks looked for would have the trace
	 * of a stack for each of them.
	 */
	private static final ByteBufAllocator UNTRACED = new UnpooledByteBufAllocator(false, true);

	private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("proxy", true),
			NioIoHandler.newFactory());

	private final EventLoop loop = this.group.next();

	private final Set<ProxyLink> links = ConcurrentHashMap.newKeySet();

	private final InetSocketAddress server;

	private final Channel listener;

	private volatile long delayNanos;

	private volatile int pieceBytes = Integer.MAX_VALUE;

	/** The place of the next fault. Only the loop uses it. */
	private @Nullable ProxyPlace place;

	private FaultProxy(InetSocketAddress server) {
		this.server = server;
		this.listener = new ServerBootstrap().group(this.group)
			.channel(NioServerSocketChannel.class)
			.childOption(ChannelOption.ALLOCATOR, UNTRACED)
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
	 * @param redis the Redis that it forwards to
	 * @return the proxy, to be closed by the test
	 */
	public static FaultProxy open(TestRedis redis) {
		return new FaultProxy(new InetSocketAddress(redis.host(), redis.port()));
	}

	/**
	 * The port that the proxy listens on, at 127.0.0.1.
	 * @return the port
	 */
	public int port() {
		return ((InetSocketAddress) this.listener.localAddress()).getPort();
	}

	/**
	 * The number of open connections through the proxy.
	 * @return the number, stopped connections included
	 */
	public int links() {
		return this.links.size();
	}

	/**
	 * Stops a connection at a place, counted from now on over all connections.
	 * @param way the direction to count in, and to stop
	 * @param messages the number of messages that still pass, handshakes included
	 * @param bytes the number of bytes behind them that still pass on the same connection
	 * @return is done by the proxy's thread when a connection reaches the place. By then
	 * all bytes before the place are forwarded, and none behind it
	 */
	public CompletableFuture<ProxyLink> stopAt(Way way, long messages, int bytes) {
		return stopAt(null, way, messages, bytes);
	}

	/**
	 * Stops a connection of one of several services at a place, counted over its
	 * connections only.
	 * @param client its {@code spring.data.redis.client-name}; {@code null} for all
	 */
	public CompletableFuture<ProxyLink> stopAt(@Nullable String client, Way way, long messages, int bytes) {
		ProxyPlace next = ProxyPlace.of(client, way, messages, bytes);
		call(() -> this.place = next);
		return next.reached();
	}

	/** Stops all connections, also those that are opened later. */
	public void stopAll() {
		call(() -> this.place = ProxyPlace.everywhere());
	}

	/**
	 * Delays all bytes from now on, in each direction.
	 * @param delay the time by which each byte is late
	 */
	public void delay(Duration delay) {
		this.delayNanos = delay.toNanos();
	}

	/**
	 * Limits the speed of each connection from now on, in each direction.
	 * @param bytes the number of bytes that a connection may move in a millisecond
	 */
	public void slow(int bytes) {
		this.pieceBytes = bytes;
	}

	/** Resets all connections. */
	public void resetAll() {
		call(() -> {
			this.links.forEach(ProxyLink::resetNow);
			return null;
		});
	}

	/**
	 * Forwards everything again. The bytes that a stopped connection has held back reach
	 * Redis only if the connection's client still waits.
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
			.option(ChannelOption.ALLOCATOR, UNTRACED)
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
	 * The number of bytes of a buffer that may pass.
	 * @return all readable bytes, or those before the place
	 */
	int admit(ProxyFlow flow, ByteBuf buffer, int most) {
		byte[] bytes = new byte[Math.min(buffer.readableBytes(), most)];
		buffer.getBytes(buffer.readerIndex(), bytes);
		ProxyPlace here = this.place;
		for (int at = 0; at < bytes.length; at++) {
			if (here != null && here.isHere(flow)) {
				return at;
			}
			boolean messageEnds = flow.messages().endsWith(bytes[at]);
			if (messageEnds) {
				flow.messageEnds();
			}
			if (here != null) {
				here.passed(flow, messageEnds);
			}
		}
		return bytes.length;
	}

	/**
	 * Whether a connection has come to the place.
	 * @return the future of the place, to be done by the connection that stops there;
	 * {@code null} if the connection goes on
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
	 * Waits until the proxy's thread has noticed which clients are gone. The thread looks
	 * at its connections once in each round, and a delayed task runs in the next round.
	 */
	private void hear() {
		for (int round = 0; round < 2; round++) {
			this.loop.schedule(() -> null, 1, TimeUnit.MILLISECONDS).syncUninterruptibly();
		}
	}

	/** Runs a task in the proxy's thread, and waits for its end. */
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

	/** A direction of the bytes. */
	public enum Way {

		/** To Redis. */
		COMMANDS,

		/** From Redis. */
		REPLIES

	}

}
