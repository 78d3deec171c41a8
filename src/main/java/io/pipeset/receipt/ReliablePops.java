package io.pipeset.receipt;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

import io.pipeset.report.DurationText;

/**
 * Pops that lose no value: popped values stay in Redis until the caller acknowledges
 * them.
 *
 * @param client the name of the client that owns the receipt
 * @param key the key of the list
 * @param count the most values to pop, 0 or more
 * @param receiptTtl how long the caller may take to acknowledge the values, before they
 * go back to the list
 */
public record ReliablePops(String client, String key, long count, Duration receiptTtl) {

	/** The key of the list in UTF-8. */
	public byte[] keyBytes() {
		return this.key.getBytes(StandardCharsets.UTF_8);
	}

	/** Adds the settings of reliable pops to a report. */
	public void addTo(Map<String, Object> report) {
		report.put("reliable", true);
		report.put("receiptTtl", DurationText.of(this.receiptTtl));
	}

}
