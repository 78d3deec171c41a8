package io.pipeset.engine.script;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.Assert;
import org.springframework.util.unit.DataSize;

/**
 * Limits of the scripts whose text the service keeps, to load them again if Redis has
 * forgotten them.
 *
 * @param maxBytes the size of the largest script, 1 byte to 512KB
 * @param maxCount how many scripts are kept, 1 to 10,000; the least recently used ones
 * are dropped
 */
@ConfigurationProperties("pipeset.scripts")
public record ScriptProperties(@DefaultValue("64KB") DataSize maxBytes, @DefaultValue("256") int maxCount) {

	private static final int MOST_BYTES = 512 << 10;

	private static final int MOST_SCRIPTS = 10_000;

	public ScriptProperties {
		Assert.isTrue(maxBytes.toBytes() >= 1 && maxBytes.toBytes() <= MOST_BYTES,
				() -> "pipeset.scripts.max-bytes must be 1 to " + MOST_BYTES + ", not " + maxBytes.toBytes());
		Assert.isTrue(maxCount >= 1 && maxCount <= MOST_SCRIPTS,
				() -> "pipeset.scripts.max-count must be 1 to " + MOST_SCRIPTS + ", not " + maxCount);
	}

}
