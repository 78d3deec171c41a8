package io.pipeset.engine.pipeline;

import io.lettuce.core.KillArgs;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.pipeset.redis.TestRedis;

import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.context.annotation.Bean;

import static org.awaitility.Awaitility.await;

/**
 * Counts the service's open connections to Redis. A test extends it in a nested
 * configuration, which is read after the service's own.
 */
public class OpenConnections {

	@Bean
	public Count openConnections() {
		return new Count();
	}

	@Bean
	public ClientResourcesBuilderCustomizer countedConnections(Count count) {
		return (resources) -> resources.nettyCustomizer(new NettyCustomizer() {

			@Override
			public void afterChannelInitialized(Channel channel) {
				ReplyHandler.addTo(channel);
				count.channels.add(channel);
			}

		});
	}

	/** The connections that are open. */
	public static final class Count {

		private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

		/**
		 * The number of connections that are open now.
		 * @return the count
		 */
		public int now() {
			return this.channels.size();
		}

		/**
		 * Makes Redis close all connections, until the service has none.
		 * @param redis the server
		 */
		public void kill(TestRedis redis) {
			await().until(() -> {
				redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
				return now() == 0;
			});
		}

	}

}
