package io.pipeset.job.control;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

import org.jspecify.annotations.Nullable;

/** Reports as the control Redis has them: gzip of a bounded size. */
public final class ReportBytes {

	/** A larger report is kept without its lists. */
	private static final int MOST_REPORT_BYTES = 256 << 10;

	private ReportBytes() {
	}

	/**
	 * Compresses a report.
	 * @param whole writes it as JSON
	 * @param shorter writes the report to take if that one is too large; {@code null} if
	 * there is none
	 * @return {@code null} if it is too large to be recorded
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
			// JSON's writer hides the reason, a TooLargeException, in one of its own.
			if (bytes.full) {
				return null;
			}
			throw ex;
		}
		return bytes.toByteArray();
	}

	/** Opens a report that was compressed. */
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

		/** Writes it as JSON, and leaves the stream open. */
		void writeTo(OutputStream out) throws IOException;

	}

	/** A report is larger than it may be. */
	private static final class TooLargeException extends RuntimeException {

	}

	/** Bytes up to the size of a report. */
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
