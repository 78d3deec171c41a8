package io.pipeset.receipt;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of receipts.
 *
 * @param sweepInterval the time between two checks for expired receipts, 100 milliseconds
 * to 1 hour
 */
@ConfigurationProperties("pipeset.receipts")
record ReceiptProperties(@DefaultValue("1s") Duration sweepInterval) {

	ReceiptProperties {
		if (sweepInterval.toMillis() < 100 || sweepInterval.compareTo(Duration.ofHours(1)) > 0) {
			throw new IllegalArgumentException(
					"pipeset.receipts.sweep-interval must be from 100ms to 1h, not " + sweepInterval);
		}
	}

}
