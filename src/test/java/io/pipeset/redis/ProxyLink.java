package io.pipeset.redis;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.pipeset.redis.FaultProxy.Way;
import org.jspecify.annotations.Nullable;

/** A connection through a {@link FaultProxy}. */
public final class ProxyLink {

	private static final Pattern NAME = Pattern.compile("\r\nSETNAME\r\n\\$\\d+\r\n([^\r\n]+)");

	private final FaultProxy proxy;

	private final SocketChannel client;

	private @Nullable String name;

	private @Nullable SocketChannel server;

	private @Nullable ProxyFlow commands;

	private @Nullable ProxyFlow replies;

	ProxyLink(FaultProxy proxy, SocketChannel client) {
		this.proxy = proxy;
		this.client = client;
	}

	/** Breaks the connection (RST), for both sides. */
	public void reset() {
		this.proxy.call(() -> {
			resetNow();
			return null;
		});
	}

	/**
	 * Ends the connection in order (FIN), for both sides. Bytes that were forwarded will
	 * still be read, and all others are lost.
	 */
	public void end() {
		this.proxy.call(() -> {
			closeNow();
			return null;
		});
	}

	/**
	 * The number of replies that were forwarded so far. A client reads them even if the
	 * connection ends then, but not if it is reset.
	 */
	public int replies() {
		return flow(Way.REPLIES).forwarded();
	}

	/** Stops both directions. */
	public void stop() {
		this.proxy.call(() -> {
			flow(Way.COMMANDS).stop();
			flow(Way.REPLIES).stop();
			return null;
		});
	}

	/** Forwards again, from the byte at which it stopped. */
	public void goOn() {
		this.proxy.call(() -> {
			flow(Way.COMMANDS).goOn();
			flow(Way.REPLIES).goOn();
			return null;
		});
	}

	void open(SocketChannel server) {
		this.server = server;
		this.commands = new ProxyFlow(this.proxy, this, Way.COMMANDS, this.client, server);
		this.replies = new ProxyFlow(this.proxy, this, Way.REPLIES, server, this.client);
		this.client.pipeline().addLast(this.commands);
		server.pipeline().addLast(this.replies);
	}

	void start() {
		this.client.closeFuture().addListener((closed) -> goneIfClosed());
		this.server.closeFuture().addListener((closed) -> goneIfClosed());
		this.client.config().setAutoRead(true);
		this.server.config().setAutoRead(true);
	}

	/** Takes the name of the client from its first message. */
	void greets(String message) {
		Matcher named = NAME.matcher(message);
		this.name = (named.find()) ? named.group(1) : null;
	}

	/** Whether its client has this name. */
	boolean isOf(String client) {
		return client.equals(this.name);
	}

	ProxyFlow other(ProxyFlow flow) {
		return (flow == this.commands) ? flow(Way.REPLIES) : flow(Way.COMMANDS);
	}

	void healNow() {
		if (this.commands == null) {
			return;
		}
		if (this.commands.hasEnded() || this.replies.hasEnded()) {
			resetNow();
		}
		else {
			this.commands.goOn();
			this.replies.goOn();
		}
	}

	void resetNow() {
		linger(this.client);
		linger(this.server);
		closeNow();
	}

	private void closeNow() {
		drop();
		ChannelFuture unused = this.client.close();
		if (this.server != null) {
			ChannelFuture unusedToo = this.server.close();
		}
		this.proxy.closed(this);
	}

	private void goneIfClosed() {
		if (!this.client.isOpen() && !this.server.isOpen()) {
			drop();
			this.proxy.closed(this);
		}
	}

	/** Releases the buffers that will not be forwarded any more. */
	private void drop() {
		if (this.commands != null) {
			this.commands.drop();
			this.replies.drop();
		}
	}

	private ProxyFlow flow(Way way) {
		return (way == Way.COMMANDS) ? this.commands : this.replies;
	}

	private static void linger(@Nullable Channel channel) {
		if (channel != null && channel.isOpen()) {
			channel.config().setOption(ChannelOption.SO_LINGER, 0);
		}
	}

	@Override
	public String toString() {
		return this.client + " " + this.commands + ", " + this.server + " " + this.replies;
	}

}
