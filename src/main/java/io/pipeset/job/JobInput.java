package io.pipeset.job;

import java.io.InputStream;
import java.time.Duration;

import io.pipeset.record.RecordFormat;
import io.pipeset.record.RecordReader;
import org.jspecify.annotations.Nullable;

/** Where a job's records come from. */
public sealed interface JobInput {

	/**
	 * Records that the service makes itself.
	 *
	 * @param records the records
	 * @param count how many there are
	 */
	record Generated(RecordReader records, long count) implements JobInput {

	}

	/**
	 * Pops that lose no value: each is kept in Redis until the caller says that it has
	 * it.
	 *
	 * @param key the list
	 * @param count how many values to pop at most, 0 or more
	 * @param receiptTtl how long the caller has to say so, before the values go back
	 */
	record ReliablePops(String key, long count, Duration receiptTtl) implements JobInput {

		/** The time of a caller that names none. */
		public static final Duration DEFAULT_RECEIPT_TTL = Duration.ofSeconds(60);

	}

	/**
	 * Records that a caller uploads.
	 *
	 * @param body their bytes, read once and never held whole
	 * @param gzipped whether the bytes are to be inflated first
	 * @param format how the bytes are to be read
	 * @param declared how many the caller says there are; {@code null} if it does not say
	 * @param end ends the body where the job is stopped while it pauses
	 */
	record Uploaded(InputStream body, boolean gzipped, RecordFormat format, @Nullable Long declared,
			EndOfInput end) implements JobInput {

	}

}
