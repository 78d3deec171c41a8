package io.pipeset.input;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;

import io.pipeset.record.RecordReader;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.request.ByteLimit;
import io.pipeset.request.JobSettings;
import org.jspecify.annotations.Nullable;

/**
 * A body that is on disk or at a URL, so that its records can be read again.
 *
 * @param bytes the body as it was received, before inflation
 * @param encoding how the bytes are compressed
 * @param format the format of the records
 * @param charset the charset of the inflated bytes
 * @param url the resource that the body is; {@code null} for one on disk
 */
public record SpooledBody(StoredBytes bytes, BodyEncoding encoding, RecordFormat format, Charset charset,
		@Nullable UrlVersion url) implements AutoCloseable {

	/**
	 * Reads the records again.
	 * @param settings the settings with which they were read before
	 * @param limit the limits of a record
	 * @param inflatedLimit the most inflated bytes
	 * @param records reads the records
	 * @throws IOException if the body cannot be read, or {@code records} fails
	 */
	public void reread(JobSettings settings, RecordLimit limit, ByteLimit inflatedLimit, Reading records)
			throws IOException {
		try (InputStream stored = this.bytes.open();
				InputStream inflated = this.encoding.decompress(stored, inflatedLimit, limit.memory())) {
			records.read(RowItemReader.open(this.format, DecodedBody.of(inflated, this.charset),
					settings.records().operation(), settings.records().mapping(), limit));
		}
	}

	/** Closes a stream of the body. */
	void closeQuietly(InputStream bytes) {
		try {
			bytes.close();
		}
		catch (IOException ex) {
			// The records that were read are still valid.
		}
	}

	/** Removes the body from the disk. */
	@Override
	public void close() {
		this.bytes.close();
	}

	/** Reads records. */
	@FunctionalInterface
	public interface Reading {

		/**
		 * Reads the records.
		 * @param records the records, from the first one on
		 * @throws IOException if they cannot be read or processed
		 */
		void read(RecordReader records) throws IOException;

	}

}
