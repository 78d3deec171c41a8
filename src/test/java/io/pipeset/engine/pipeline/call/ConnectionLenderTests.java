package io.pipeset.engine.pipeline.call;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.pipeset.engine.pipeline.flush.FlushPolicy;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** If the master may change, a connection is retried, but only for a short time. */
class ConnectionLenderTests {

	private static final Duration REPLY_TIMEOUT = Duration.ofMillis(500);

	@Test
	void timeoutsOfASilentMasterDoNotAddUp() throws Exception {
		AtomicInteger checks = new AtomicInteger();
		try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
			LettuceConnectionFactory factory = new LettuceConnectionFactory(
					new RedisStandaloneConfiguration("127.0.0.1", silent.getLocalPort()),
					LettuceClientConfiguration.builder().commandTimeout(REPLY_TIMEOUT).build());
			factory.afterPropertiesSet();
			factory.start();
			try {
				ConnectionLender lender = ConnectionLender.of(factory, 1, "the master", checks::incrementAndGet);
				assertThatExceptionOfType(NoConnectionException.class)
					.isThrownBy(() -> lender.lend(FlushPolicy.each(), (connection) -> {
					}));
			}
			finally {
				factory.destroy();
			}
		}
		assertThat(checks.get()).isBetween(1, 3);
	}

}
