package io.pipeset.spool;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file in the spool: written once, then read, and removed when it is closed. */
public final class SpoolFile implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(SpoolFile.class);

	private final Spool spool;

	private final Path path;

	/** The bytes that count for this file in the spool. */
	private long taken;

	private long written;

	private boolean closed;

	SpoolFile(Spool spool, Path path, long taken) {
		this.spool = spool;
		this.path = path;
		this.taken = taken;
	}

	/**
	 * Opens the file for being written, by one thread. The stream has no buffer.
	 * @return the stream, which throws a {@link SpoolException} where the spool is full
	 * or its disk fails
	 * @throws SpoolException if the disk fails
	 */
	public OutputStream write() throws SpoolException {
		try {
			return new Written(Files.newOutputStream(this.path));
		}
		catch (IOException ex) {
			throw Spool.failed("written", ex);
		}
	}

	/**
	 * Opens the file for being read, once it is written. The stream has no buffer.
	 * @return the stream, which throws a {@link SpoolException} where the disk fails, or
	 * does not have all that was written
	 */
	public InputStream open() {
		return new SpooledBytes(this.path, bytes());
	}

	/**
	 * The size of the file.
	 * @return the bytes that were written so far
	 */
	public synchronized long bytes() {
		return this.written;
	}

	/** Removes the file. */
	@Override
	public synchronized void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		try {
			Files.deleteIfExists(this.path);
		}
		catch (IOException ex) {
			logger.warn("A file of the spool could not be removed: {}", ex.toString());
		}
		this.spool.give(this.taken);
	}

	private synchronized void claim(int bytes) throws SpoolException {
		if (this.closed) {
			throw new SpoolException("The file in the spool was removed");
		}
		long more = this.written + bytes - this.taken;
		if (more > 0) {
			this.spool.take(more);
			this.taken += more;
		}
		this.written += bytes;
	}

	/** Counts the bytes before they are written. */
	private final class Written extends FilterOutputStream {

		private Written(OutputStream file) {
			super(file);
		}

		@Override
		public void write(int single) throws IOException {
			write(new byte[] { (byte) single }, 0, 1);
		}

		@Override
		public void write(byte[] bytes, int offset, int length) throws IOException {
			claim(length);
			try {
				this.out.write(bytes, offset, length);
			}
			catch (IOException ex) {
				throw Spool.failed("written", ex);
			}
		}

		@Override
		public void close() throws IOException {
			try {
				this.out.close();
			}
			catch (IOException ex) {
				throw Spool.failed("written", ex);
			}
		}

	}

}
