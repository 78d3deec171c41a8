package io.pipeset.dev;

import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;

/**
 * The connection details of the embedded Redis for Spring Boot.
 */
final class EmbeddedRedisConnectionDetails implements DataRedisConnectionDetails {

	private final EmbeddedRedis redis;

	EmbeddedRedisConnectionDetails(EmbeddedRedis redis) {
		this.redis = redis;
	}

	@Override
	public String getPassword() {
		return this.redis.password();
	}

	@Override
	public Standalone getStandalone() {
		return Standalone.of(this.redis.host(), this.redis.port());
	}

}
