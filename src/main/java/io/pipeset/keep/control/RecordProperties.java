package io.pipeset.keep.control;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of job records.
 *
 * @param retention how long a record is kept after it was last written, 1 minute to 30
 * days
 * @param lease a job that has not ended, and whose record was not written for this long,
 * counts as interrupted, 1 second to 10 minutes
 */
@ConfigurationProperties("pipeset.jobs")
record RecordProperties(@DefaultValue("24h") Duration retention, @DefaultValue("15s") Duration lease) {

	RecordProperties {
		if (retention.compareTo(Duration.ofMinutes(1)) < 0 || retention.compareTo(Duration.ofDays(30)) > 0) {
			throw new IllegalArgumentException("pipeset.jobs.retention must be from 1m to 30d, not " + retention);
		}
		if (lease.compareTo(Duration.ofSeconds(1)) < 0 || lease.compareTo(Duration.ofMinutes(10)) > 0) {
			throw new IllegalArgumentException("pipeset.jobs.lease must be from 1s to 10m, not " + lease);
		}
	}

}
