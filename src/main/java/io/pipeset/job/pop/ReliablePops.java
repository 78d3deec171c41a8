package io.pipeset.job.pop;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

import io.pipeset.report.DurationText;

/**
 * Pops that lose no value: each is kept in Redis until the caller says that it has it.
 *
 * @param client the name of the client that has the receipt
 * @param key the list
 * @param count how many values to pop at most, 0 or more
 * @param receiptTtl how long the caller has to say so, before the values go back
 */
public record ReliablePops(String client, String key, long count, Duration receiptTtl) {

	/** The key of the list as Redis has it. */
	public byte[] keyBytes() {
		return this.key.getBytes(StandardCharsets.UTF_8);
	}

	/** Adds the settings that only such pops have. */
	public void addTo(Map<String, Object> report) {
		report.put("reliable", true);
		report.put("receiptTtl", DurationText.of(this.receiptTtl));
	}

}
