package io.pipeset.dev;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings {@code pipeset.embedded-redis.*} of the Redis that is started
 * automatically in development.
 *
 * @param enabled whether to start it if no other Redis is configured
 * @param executable the server program to start instead of the redis-server on the class
 * path, such as {@code valkey-server}: a path, or a name on the PATH
 */
@ConfigurationProperties("pipeset.embedded-redis")
record EmbeddedRedisProperties(@DefaultValue("true") boolean enabled, @Nullable String executable) {

	EmbeddedRedisProperties {
		executable = (executable != null && executable.isBlank()) ? null : executable;
	}

	EmbeddedRedisOptions options() {
		return EmbeddedRedisOptions.defaults().withExecutable(this.executable);
	}

}
