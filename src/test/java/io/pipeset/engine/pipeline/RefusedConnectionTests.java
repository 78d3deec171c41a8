package io.pipeset.engine.pipeline;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.RedisHandshakeHandler;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A refused connection fails at once, and leaves no pending handshake. */
class RefusedConnectionTests {

	@Test
	void noHandshakeTimesOutAfterTheClientIsClosed() throws Exception {
		CompletableFuture<Void> handshake = new CompletableFuture<>();
		ClientResources resources = ClientResources.builder().nettyCustomizer(new NettyCustomizer() {

			@Override
			public void afterChannelInitialized(Channel channel) {
				ReplyHandler.addTo(channel);
				channel.pipeline()
					.get(RedisHandshakeHandler.class)
					.channelInitialized()
					.whenComplete((done, ex) -> handshake.complete(null));
			}

		}).build();
		// The port is bound, so that no other process gets it, but nothing listens on it.
		try (Socket bound = new Socket()) {
			bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
			RedisClient client = RedisClient.create(resources,
					RedisURI.builder()
						.withHost("127.0.0.1")
						.withPort(bound.getLocalPort())
						.withTimeout(Duration.ofHours(1))
						.build());
			assertThatExceptionOfType(RedisConnectionException.class).isThrownBy(client::connect);
			handshake.get(10, TimeUnit.SECONDS);
			client.shutdown();
		}
		finally {
			assertThat(resources.shutdown(0, 2, TimeUnit.SECONDS).await(10, TimeUnit.SECONDS)).isTrue();
		}
	}

}
