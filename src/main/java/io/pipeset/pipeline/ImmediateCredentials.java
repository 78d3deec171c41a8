package io.pipeset.pipeline;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithAuthentication;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * The configured credentials, without a thread of their own. Where Lettuce has to wait
 * for credentials it goes on with the handshake in another thread than the event loop's,
 * and may then hand out a connection before it is activated: open to the pool, and yet
 * refusing every command.
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
