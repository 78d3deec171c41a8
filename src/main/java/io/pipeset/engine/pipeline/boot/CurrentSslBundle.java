package io.pipeset.engine.pipeline.boot;

import io.lettuce.core.ClientOptions;
import io.netty.handler.ssl.SslContextBuilder;

import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientOptionsBuilderCustomizer;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslManagerBundle;
import org.springframework.util.StringUtils;

/**
 * Opens each connection to Redis with the certificates that its SSL bundle has by then.
 * Boot reads them once, for a client that lives as long as the service; so a bundle with
 * {@code reload-on-update} would go on with those that have expired.
 */
public final class CurrentSslBundle implements LettuceClientOptionsBuilderCustomizer {

	private final DataRedisProperties.Ssl ssl;

	private final SslBundles bundles;

	/**
	 * The bundle of a Redis, if its properties name one.
	 * @param redis the properties of that Redis
	 * @param bundles all bundles
	 */
	public CurrentSslBundle(DataRedisProperties redis, SslBundles bundles) {
		this.ssl = redis.getSsl();
		this.bundles = bundles;
	}

	@Override
	public void customize(ClientOptions.Builder options) {
		String bundle = this.ssl.getBundle();
		if (this.ssl.isEnabled() && StringUtils.hasText(bundle)) {
			// Lettuce calls this for each connection, behind what Boot has set.
			options.sslOptions(options.build()
				.getSslOptions()
				.mutate()
				.sslContext((context) -> use(this.bundles.getBundle(bundle).getManagers(), context))
				.build());
		}
	}

	private static void use(SslManagerBundle managers, SslContextBuilder context) {
		context.keyManager(managers.getKeyManagerFactory()).trustManager(managers.getTrustManagerFactory());
	}

}
