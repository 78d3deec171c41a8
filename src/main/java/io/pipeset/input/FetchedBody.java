package io.pipeset.input;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;

import io.pipeset.report.JobReport.Warning;

/**
 * A body that the service fetches itself, from a source that the request names. Reading
 * it throws a {@link SourceException} if the source fails.
 */
public abstract class FetchedBody extends InputStream {

	/**
	 * Ends a read that waits for the source, and all later ones. Any thread may call
	 * this.
	 */
	public abstract void abort();

	/** Adds the settings that name the source to a report. */
	public abstract void addTo(Map<String, Object> report);

	/** Warnings about the source for the report. */
	public List<Warning> warnings() {
		return List.of();
	}

	/** Closes the source, whose failure does not matter any more. */
	final void closeQuietly() {
		try {
			close();
		}
		catch (IOException ex) {
			// The records that were read are still valid.
		}
	}

	@Override
	public int read() throws IOException {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public abstract int read(byte[] target, int offset, int length) throws IOException;

}
