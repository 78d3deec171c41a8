package io.pipeset.engine.pipeline.boot;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithAuthentication;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * Gives Lettuce the configured credentials without a wait. If Lettuce has to wait for
 * credentials, it continues the handshake outside the event loop, and may return a
 * connection before it is activated. The pool would consider that connection open, but it
 * would refuse every command.
 */
final class ImmediateCredentials implements RedisCredentialsProviderFactory {

	@Override
	public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration configuration) {
		return (ImmediateRedisCredentialsProvider) () -> credentials(configuration);
	}

	private static RedisCredentials credentials(RedisConfiguration configuration) {
		if (configuration instanceof WithAuthentication authentication && authentication.getPassword().isPresent()) {
			return RedisCredentials.just(authentication.getUsername(), authentication.getPassword().get());
		}
		return AbsentRedisCredentials.ANONYMOUS;
	}

}
