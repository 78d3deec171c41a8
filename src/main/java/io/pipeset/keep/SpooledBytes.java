package io.pipeset.keep;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * Reads a file of the spool from its first to its last byte. It fails if the file has
 * fewer bytes than were written.
 */
final class SpooledBytes extends InputStream {

	private final Path path;

	private final long length;

	/** Opened by the first read, so that waiting jobs have no open file. */
	private @Nullable InputStream file;

	private long read;

	SpooledBytes(Path path, long length) {
		this.path = path;
		this.length = length;
	}

	/** Never 0, because a file never blocks. */
	@Override
	public int available() {
		return (int) Math.max(1, Math.min(Integer.MAX_VALUE, this.length - this.read));
	}

	@Override
	public int read() throws IOException {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		if (this.read == this.length) {
			return -1;
		}
		int bytes;
		try {
			bytes = file().read(target, offset, (int) Math.min(length, this.length - this.read));
		}
		catch (IOException ex) {
			throw Spool.diskFailure("read", ex);
		}
		if (bytes < 0) {
			throw new SpoolException("The spool has only " + this.read + " of the " + this.length
					+ " bytes that were written to it: its disk fails, or its files were removed or truncated");
		}
		this.read += bytes;
		return bytes;
	}

	@Override
	public void close() throws IOException {
		if (this.file != null) {
			this.file.close();
		}
	}

	private InputStream file() throws IOException {
		if (this.file == null) {
			this.file = Files.newInputStream(this.path);
		}
		return this.file;
	}

}
