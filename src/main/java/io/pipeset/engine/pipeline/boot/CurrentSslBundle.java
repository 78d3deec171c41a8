package io.pipeset.engine.pipeline.boot;

import io.lettuce.core.ClientOptions;
import io.netty.handler.ssl.SslContextBuilder;

import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientOptionsBuilderCustomizer;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslManagerBundle;
import org.springframework.util.StringUtils;

/**
 * Opens each connection to Redis with the current certificates of its SSL bundle. Boot
 * reads the certificates only once, because its client lives as long as the service. So a
 * bundle with {@code reload-on-update} would keep using expired certificates.
 */
public final class CurrentSslBundle implements LettuceClientOptionsBuilderCustomizer {

	private final DataRedisProperties.Ssl ssl;

	private final SslBundles bundles;

	/**
	 * Uses the bundle that the properties of a Redis name, if they name one.
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
			// Lettuce calls this for each connection, after Boot's own options are set.
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
