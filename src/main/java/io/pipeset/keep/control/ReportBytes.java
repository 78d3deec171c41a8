package io.pipeset.keep.control;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

import org.jspecify.annotations.Nullable;

/** Compresses reports for the control Redis: gzip, at most 256 KB. */
public final class ReportBytes {

	/** The largest compressed report. */
	private static final int MOST_REPORT_BYTES = 256 << 10;

	private ReportBytes() {
	}

	/**
	 * Compresses a report.
	 * @param whole writes the report as JSON
	 * @param shorter writes a shorter form, used if the whole report is too large;
	 * {@code null} if there is none
	 * @return {@code null} if no form is small enough
	 * @throws IOException if a writer fails
	 */
	public static byte @Nullable [] compress(ReportWriter whole, @Nullable ReportWriter shorter) throws IOException {
		byte[] bytes = compress(whole);
		return (bytes != null || shorter == null) ? bytes : compress(shorter);
	}

	private static byte @Nullable [] compress(ReportWriter report) throws IOException {
		BoundedBytes bytes = new BoundedBytes();
		try (OutputStream gzip = new GZIPOutputStream(bytes, 8 << 10)) {
			report.writeTo(gzip);
		}
		catch (RuntimeException ex) {
			// The JSON writer wraps the TooLargeException in an exception of its own.
			if (bytes.full) {
				return null;
			}
			throw ex;
		}
		return bytes.toByteArray();
	}

	/** Opens a compressed report. */
	static InputStream inflate(byte[] report) {
		try {
			return new GZIPInputStream(new ByteArrayInputStream(report));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Writes a report. */
	@FunctionalInterface
	public interface ReportWriter {

		/** Writes the report as JSON, and leaves the stream open. */
		void writeTo(OutputStream out) throws IOException;

	}

	/** The report is larger than the limit. */
	private static final class TooLargeException extends RuntimeException {

	}

	/** A buffer that fails if it would exceed the limit. */
	private static final class BoundedBytes extends ByteArrayOutputStream {

		private boolean full;

		@Override
		public synchronized void write(int single) {
			check(1);
			super.write(single);
		}

		@Override
		public synchronized void write(byte[] bytes, int offset, int length) {
			check(length);
			super.write(bytes, offset, length);
		}

		private void check(int more) {
			if (this.count + more > MOST_REPORT_BYTES) {
				this.full = true;
				throw new TooLargeException();
			}
		}

	}

}
