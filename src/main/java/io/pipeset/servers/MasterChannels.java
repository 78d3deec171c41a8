package io.pipeset.servers;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.DnsResolver;
import io.lettuce.core.resource.SocketAddressResolver;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * All connections of the service. Those to a server that is no master any more are
 * closed, and one that is opened to such a server ends before anything is sent on it.
 */
public final class MasterChannels {

	private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

	private final Set<InetSocketAddress> former = ConcurrentHashMap.newKeySet();

	/** The server that took the place of another; {@code null} before the first did. */
	private volatile @Nullable InetSocketAddress master;

	/** Takes a connection that is being opened. */
	public void add(Channel channel) {
		this.channels.add(channel);
		channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {

			@Override
			public void channelActive(ChannelHandlerContext ctx) throws Exception {
				if (leadsToFormerMaster(ctx.channel())) {
					ChannelFuture unused = ctx.close();
				}
				else {
					super.channelActive(ctx);
				}
			}

		});
	}

	/**
	 * Leads connections that are opened to the master. Lettuce asks one Sentinel where
	 * that is, which may not have heard of a failover yet.
	 */
	public SocketAddressResolver resolver() {
		return new SocketAddressResolver(DnsResolver.unresolved()) {

			@Override
			public SocketAddress resolve(RedisURI uri) {
				SocketAddress address = super.resolve(uri);
				InetSocketAddress now = MasterChannels.this.master;
				return (now != null && address instanceof InetSocketAddress asked
						&& MasterChannels.this.former.contains(resolved(asked))) ? now : address;
			}

		};
	}

	/** Closes the connections to the former master, and returns when they are closed. */
	void replace(InetSocketAddress master, InetSocketAddress former) {
		this.master = resolved(master);
		this.former.add(resolved(former));
		this.former.remove(resolved(master));
		this.channels.close(this::leadsToFormerMaster).awaitUninterruptibly();
	}

	/** The names that Sentinel gives are not resolved. */
	private static InetSocketAddress resolved(InetSocketAddress address) {
		return new InetSocketAddress(address.getHostString(), address.getPort());
	}

	private boolean leadsToFormerMaster(Channel channel) {
		return channel.remoteAddress() instanceof InetSocketAddress remote && this.former.contains(remote);
	}

}
