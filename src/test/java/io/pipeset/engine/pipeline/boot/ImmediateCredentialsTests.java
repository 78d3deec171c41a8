package io.pipeset.engine.pipeline.boot;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Credentials are available without a wait, so that the handshake stays on the event
 * loop. Otherwise about one connection in a thousand would be returned before it is
 * activated, which is too rare for a test.
 */
class ImmediateCredentialsTests {

	private final RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("127.0.0.1");

	@Test
	void credentialsAreAvailableAtOnce() {
		this.configuration.setUsername("loader");
		this.configuration.setPassword(RedisPassword.of("secret"));
		RedisCredentials credentials = credentials();
		assertThat(credentials.getUsername()).isEqualTo("loader");
		assertThat(credentials.getPassword()).isEqualTo("secret".toCharArray());
	}

	@Test
	void credentialsAreOptional() {
		RedisCredentials credentials = credentials();
		assertThat(credentials.hasUsername()).isFalse();
		assertThat(credentials.hasPassword()).isFalse();
	}

	private RedisCredentials credentials() {
		return ((ImmediateRedisCredentialsProvider) new ImmediateCredentials()
			.createCredentialsProvider(this.configuration)).resolveCredentialsNow();
	}

}
