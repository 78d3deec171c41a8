package io.pipeset.job;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * What a job may ask for.
 *
 * @param maxGenerated the records that a shortcut may generate, 0 or more
 * @param maxPopped the values that one job may take out of Redis, 0 or more
 * @param maxPoppedBytes their size, after which a job stops popping
 * @param maxItems the records that a report lists at most, 0 or more
 * @param maxBodyBytes the largest body, as it comes over the wire
 * @param maxRecordBytes the largest record in a body, 1KB to 512MB
 * @param maxInflightBytes the commands that all jobs together may have unanswered before
 * reading their uploads waits; two writes a lane are always allowed
 */
@ConfigurationProperties("pipeset.limits")
public record JobLimits(@DefaultValue("10000000") long maxGenerated, @DefaultValue("100000") long maxPopped,
		@DefaultValue("64MB") DataSize maxPoppedBytes, @DefaultValue("1000") int maxItems,
		@DefaultValue("4GB") DataSize maxBodyBytes, @DefaultValue("16MB") DataSize maxRecordBytes,
		@DefaultValue("32MB") DataSize maxInflightBytes) {

	public JobLimits {
		check("max-generated", maxGenerated, 0, Long.MAX_VALUE);
		check("max-popped", maxPopped, 0, Integer.MAX_VALUE);
		check("max-popped-bytes", maxPoppedBytes.toBytes(), 0, Long.MAX_VALUE);
		check("max-items", maxItems, 0, 1_000_000);
		check("max-body-bytes", maxBodyBytes.toBytes(), 0, Long.MAX_VALUE);
		check("max-inflight-bytes", maxInflightBytes.toBytes(), 0, Long.MAX_VALUE);
		check("max-record-bytes", maxRecordBytes.toBytes(), 1 << 10, 512 << 20);
	}

	private static void check(String property, long value, long least, long most) {
		if (value < least || value > most) {
			throw new IllegalArgumentException(
					"pipeset.limits." + property + " must be from " + least + " to " + most + ", not " + value);
		}
	}

}
