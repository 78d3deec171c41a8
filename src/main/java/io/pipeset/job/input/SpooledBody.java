package io.pipeset.job.input;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;

import io.pipeset.job.settings.JobSettings;
import io.pipeset.job.spool.SpoolFile;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.format.RecordFormat;

/**
 * An upload that is on disk, so that its records can be read again.
 *
 * @param file the body as it was received, before inflation
 * @param encoding how the bytes are compressed
 * @param format the format of the records
 * @param charset the charset of the inflated bytes
 */
public record SpooledBody(SpoolFile file, BodyEncoding encoding, RecordFormat format,
		Charset charset) implements AutoCloseable {

	/**
	 * Reads the records again.
	 * @param settings the settings with which they were read before
	 * @param limit the limits of a record
	 * @param inflatedLimit the most inflated bytes
	 * @param records reads the records
	 * @throws IOException if the file cannot be read, or {@code records} fails
	 */
	public void reread(JobSettings settings, RecordLimit limit, ByteLimit inflatedLimit, Reading records)
			throws IOException {
		try (InputStream bytes = this.file.open();
				InputStream inflated = this.encoding.decompress(bytes, inflatedLimit, limit.memory())) {
			records.read(RowItemReader.open(this.format, DecodedBody.of(inflated, this.charset), settings.operation(),
					settings.mapping(), limit));
		}
	}

	/** Closes a stream of the file. */
	void closeQuietly(InputStream bytes) {
		try {
			bytes.close();
		}
		catch (IOException ex) {
			// The records that were read are still valid.
		}
	}

	/** Removes the file. */
	@Override
	public void close() {
		this.file.close();
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
