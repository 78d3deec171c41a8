package io.pipeset.job;

import jakarta.validation.constraints.Min;
import org.hibernate.validator.constraints.Range;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/**
 * What a job may ask for.
 *
 * @param maxGenerated the records that a shortcut may generate, 0 or more
 * @param maxPopped the values that one job may take out of Redis, 0 or more
 * @param maxPoppedBytes their size, after which a job stops popping
 * @param maxItems the records that a report lists at most, 0 to 1,000,000
 * @param maxBodyBytes the largest body, as it comes over the wire
 * @param maxRecordBytes the largest record in a body, 1KB to 512MB
 */
@Validated
@ConfigurationProperties("pipeset.limits")
public record JobLimits(@DefaultValue("10000000") @Min(0) long maxGenerated,
		@DefaultValue("100000") @Min(0) long maxPopped, @DefaultValue("64MB") DataSize maxPoppedBytes,
		@DefaultValue("1000") @Range(min = 0, max = 1_000_000) int maxItems, @DefaultValue("4GB") DataSize maxBodyBytes,
		@DefaultValue("16MB") DataSize maxRecordBytes) {

	private static final DataSize MIN_RECORD = DataSize.ofKilobytes(1);

	private static final DataSize MAX_RECORD = DataSize.ofMegabytes(512);

	public JobLimits {
		if (maxRecordBytes.compareTo(MIN_RECORD) < 0 || maxRecordBytes.compareTo(MAX_RECORD) > 0) {
			throw new IllegalArgumentException(
					"pipeset.limits.max-record-bytes must be from 1KB to 512MB, not " + maxRecordBytes);
		}
	}

}
