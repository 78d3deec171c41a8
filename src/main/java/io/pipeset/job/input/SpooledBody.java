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
 * @param file the body, as it came over the wire
 * @param gzipped whether the bytes are to be inflated first
 * @param format how the bytes are to be read
 * @param charset that of the bytes, once inflated
 */
public record SpooledBody(SpoolFile file, boolean gzipped, RecordFormat format,
		Charset charset) implements AutoCloseable {

	/**
	 * Reads the records once more.
	 * @param settings how they were read
	 * @param limit the largest record
	 * @param inflatedLimit the bytes that a gzip body may stand for
	 * @param records reads the records
	 * @throws IOException if the file cannot be read, or what is read cannot be dealt
	 * with
	 */
	public void reread(JobSettings settings, RecordLimit limit, ByteLimit inflatedLimit, Reading records)
			throws IOException {
		try (InputStream bytes = this.file.open();
				InputStream inflated = (this.gzipped) ? new GzipBody(bytes, inflatedLimit) : bytes) {
			records.read(this.format.open(DecodedBody.of(inflated, this.charset), settings.operation(),
					settings.mapping(), limit));
		}
	}

	/** Closes a stream of the file, of which no more is read. */
	void leave(InputStream bytes) {
		try {
			bytes.close();
		}
		catch (IOException ex) {
			// The records that were read are as good.
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
		 * Reads them.
		 * @param records the records from the first one on
		 * @throws IOException if they cannot be read, or dealt with
		 */
		void read(RecordReader records) throws IOException;

	}

}
