package io.pipeset.start;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of the warm-up.
 *
 * @param enabled whether the service warms up before it is ready
 * @param time how long the warm-up lasts, 0 to 30 seconds
 */
@ConfigurationProperties("pipeset.warm-up")
record WarmUpProperties(@DefaultValue("true") boolean enabled, @DefaultValue("3s") Duration time) {

	private static final Duration MAX_TIME = Duration.ofSeconds(30);

	WarmUpProperties {
		if (time.isNegative() || time.compareTo(MAX_TIME) > 0) {
			throw new IllegalArgumentException("pipeset.warm-up.time must be from 0s to 30s, not " + time);
		}
	}

}
