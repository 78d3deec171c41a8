package io.pipeset.keyspace.tuning;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.Assert;
import org.springframework.util.unit.DataSize;

/**
 * The settings {@code pipeset.tuning.*}: whether tunings may run, and how large their
 * data may be.
 *
 * @param enabled whether callers may run tunings, which load Redis as fast as they can
 * @param maxBytes the most bytes of values in one run, 1KB to 16GB; Redis holds the data
 * of one run at a time
 */
@ConfigurationProperties("pipeset.tuning")
public record TuningProperties(@DefaultValue("true") boolean enabled, @DefaultValue("256MB") DataSize maxBytes) {

	private static final long MOST_BYTES = 16L << 30;

	public TuningProperties {
		Assert.isTrue(maxBytes.toBytes() >= 1 << 10 && maxBytes.toBytes() <= MOST_BYTES,
				() -> "pipeset.tuning.max-bytes must be 1024 to " + MOST_BYTES + ", not " + maxBytes.toBytes());
	}

}
