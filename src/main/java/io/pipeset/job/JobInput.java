package io.pipeset.job;

import java.io.InputStream;

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
	 * Records that a caller uploads.
	 *
	 * @param body their bytes, read once and never held whole
	 * @param gzipped whether the bytes are to be inflated first
	 * @param format how the bytes are to be read
	 * @param declared how many the caller says there are; {@code null} if it does not say
	 */
	record Uploaded(InputStream body, boolean gzipped, RecordFormat format,
			@Nullable Long declared) implements JobInput {

	}

}
