package io.pipeset.job.spool;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file in the spool: written once, then read, and removed when it is closed. */
public final class SpoolFile implements Spool.Kept {

	private static final Logger logger = LoggerFactory.getLogger(SpoolFile.class);

	private final Spool spool;

	private final Path path;

	private final Spool.@Nullable Share share;

	/** The bytes that count for this file in the spool. */
	private long taken;

	private long written;

	private boolean closed;

	private @Nullable FileChannel channel;

	/**
	 * A file.
	 * @param share the share of the spool that it counts for, if any
	 * @param written the bytes that it has already, and that count for it in the spool
	 */
	SpoolFile(Spool spool, Path path, Spool.@Nullable Share share, long written) {
		this.spool = spool;
		this.path = path;
		this.share = share;
		this.taken = written;
		this.written = written;
	}

	/** The name under which the file was made. */
	public String name() {
		return this.path.getFileName().toString();
	}

	/** The name of the client for whose share it counts, if any. */
	@Override
	public @Nullable String client() {
		return (this.share != null) ? this.share.client() : null;
	}

	/**
	 * Opens the file for being written, by one thread. The stream has no buffer.
	 * @return the stream, which throws a {@link SpoolException} where the spool is full
	 * or its disk fails
	 * @throws SpoolException if the disk fails
	 */
	public OutputStream write() throws SpoolException {
		try {
			return new Written(FileChannel.open(this.path, StandardOpenOption.CREATE,
					StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE));
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
	 * Writes bytes at any place, and stays open until it {@link #rest() rests}. Bytes
	 * ahead of them that were never written are 0.
	 * @param position the place, in bytes
	 * @param bytes the bytes
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	public synchronized void writeAt(long position, ByteBuffer bytes) throws SpoolException {
		long end = position + bytes.remaining();
		if (end > this.written) {
			claim((int) (end - this.written));
		}
		try {
			write(channel(), position, bytes);
		}
		catch (IOException ex) {
			throw Spool.failed("written", ex);
		}
	}

	/** Writes bytes, for which a disk that is full has to give up what may be removed. */
	private void write(FileChannel file, long position, ByteBuffer bytes) throws IOException {
		long at = position;
		while (bytes.hasRemaining()) {
			try {
				at += file.write(bytes, at);
			}
			catch (ClosedChannelException ex) {
				throw ex;
			}
			catch (IOException ex) {
				if (!this.spool.removeOldest()) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Reads bytes from any place, those that the file has.
	 * @param position the place, in bytes
	 * @param bytes takes the bytes
	 * @throws SpoolException if the disk fails
	 */
	public synchronized void readAt(long position, ByteBuffer bytes) throws SpoolException {
		try {
			boolean resting = this.channel == null;
			FileChannel file = channel();
			long at = position;
			for (int read = 0; read >= 0 && bytes.hasRemaining(); at += Math.max(0, read)) {
				read = file.read(bytes, at);
			}
			if (resting) {
				rest();
			}
		}
		catch (IOException ex) {
			throw Spool.failed("read", ex);
		}
	}

	/**
	 * Gives up the end of the file.
	 * @param bytes the bytes that it keeps
	 * @throws SpoolException if the disk fails
	 */
	public synchronized void truncate(long bytes) throws SpoolException {
		try {
			channel().truncate(bytes);
			this.written = bytes;
			rest();
		}
		catch (IOException ex) {
			throw Spool.failed("written", ex);
		}
	}

	private FileChannel channel() throws IOException {
		if (this.closed) {
			throw new ClosedChannelException();
		}
		if (this.channel == null) {
			this.channel = FileChannel.open(this.path, StandardOpenOption.CREATE, StandardOpenOption.READ,
					StandardOpenOption.WRITE);
		}
		return this.channel;
	}

	/**
	 * Has nothing open until it is read or written again: there are more files than a
	 * process may have open.
	 */
	public synchronized void rest() {
		try {
			if (this.channel != null) {
				this.channel.close();
			}
		}
		catch (IOException ex) {
			logger.warn("A file of the spool could not be closed: {}", ex.toString());
		}
		this.channel = null;
	}

	/**
	 * The size of the file.
	 * @return the bytes that were written so far
	 */
	public synchronized long bytes() {
		return this.written;
	}

	public synchronized boolean isRemoved() {
		return this.closed;
	}

	/** Removes the file. */
	@Override
	public synchronized void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		rest();
		try {
			Files.deleteIfExists(this.path);
		}
		catch (IOException ex) {
			logger.warn("A file of the spool could not be removed: {}", ex.toString());
		}
		this.spool.forget(this);
		this.spool.give(this.share, this.taken);
	}

	private synchronized void claim(int bytes) throws SpoolException {
		if (this.closed) {
			throw new SpoolException("The file in the spool was removed");
		}
		long more = this.written + bytes - this.taken;
		if (more > 0) {
			this.spool.take(this.share, more);
			this.taken += more;
		}
		this.written += bytes;
	}

	/** Counts the bytes before they are written. */
	private final class Written extends OutputStream {

		private final FileChannel file;

		private long position;

		private Written(FileChannel file) {
			this.file = file;
		}

		@Override
		public void write(int single) throws IOException {
			write(new byte[] { (byte) single }, 0, 1);
		}

		@Override
		public void write(byte[] bytes, int offset, int length) throws IOException {
			claim(length);
			try {
				SpoolFile.this.write(this.file, this.position, ByteBuffer.wrap(bytes, offset, length));
				this.position += length;
			}
			catch (IOException ex) {
				throw Spool.failed("written", ex);
			}
		}

		@Override
		public void close() throws IOException {
			try {
				this.file.close();
			}
			catch (IOException ex) {
				throw Spool.failed("written", ex);
			}
		}

	}

}
