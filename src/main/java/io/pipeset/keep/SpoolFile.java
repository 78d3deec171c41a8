package io.pipeset.keep;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.input.StoredBytes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file in the spool, removed when it is closed. */
public final class SpoolFile implements Spool.Removable, StoredBytes {

	private static final Logger logger = LoggerFactory.getLogger(SpoolFile.class);

	private final Spool spool;

	private volatile Path path;

	private final Spool.@Nullable Share share;

	/** The bytes that count for this file in the spool. */
	private long reserved;

	private long written;

	private boolean closed;

	private @Nullable FileChannel channel;

	/**
	 * A file.
	 * @param share the share of the spool that the file counts for; {@code null} for none
	 * @param written the bytes that the file has already, which the spool has counted
	 */
	SpoolFile(Spool spool, Path path, Spool.@Nullable Share share, long written) {
		this.spool = spool;
		this.path = path;
		this.share = share;
		this.reserved = written;
		this.written = written;
	}

	/** The name under which the file was made. */
	public String name() {
		return this.path.getFileName().toString();
	}

	/**
	 * When the file was modified last. For the request of a job that was taken over, it
	 * is the time at which the job's process ended.
	 * @return milliseconds since 1970
	 * @throws IOException if the file does not exist
	 */
	public long modifiedMillis() throws IOException {
		return Files.getLastModifiedTime(this.path).toMillis();
	}

	/**
	 * Renames the file, which needs no room on the disk.
	 * @return {@code false} if the disk fails
	 */
	synchronized boolean rename(String name) {
		try {
			closeChannel();
			this.path = Files.move(this.path, this.path.resolveSibling(name));
			return true;
		}
		catch (IOException ex) {
			logger.warn("A file of the spool could not be renamed: {}", ex.toString());
			return false;
		}
	}

	/** The name of the client whose share the file counts for; {@code null} for none. */
	@Override
	public @Nullable String client() {
		return (this.share != null) ? this.share.client() : null;
	}

	/**
	 * Opens an empty file for one writing thread. The stream has no buffer.
	 * @return the stream, which throws a {@link SpoolException} if the spool is full or
	 * its disk fails
	 * @throws SpoolException if the disk fails
	 */
	public OutputStream write() throws SpoolException {
		try {
			return new SpoolOutputStream(FileChannel.open(this.path, StandardOpenOption.CREATE,
					StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE));
		}
		catch (IOException ex) {
			throw Spool.diskFailure("written", ex);
		}
	}

	/**
	 * Opens the file for reading, after it was written. The stream has no buffer.
	 * @return the stream, which throws a {@link SpoolException} if the disk fails, or has
	 * fewer bytes than were written
	 */
	@Override
	public InputStream open() {
		return new SpooledBytes(this.path, bytes());
	}

	/**
	 * Writes bytes at a position. The file stays open until {@link #closeChannel()}. A
	 * gap before the position is filled with 0.
	 * @param position the offset in the file, in bytes
	 * @param bytes the bytes
	 * @throws SpoolException if the spool is full, or its disk fails
	 */
	public synchronized void writeAt(long position, ByteBuffer bytes) throws SpoolException {
		long end = position + bytes.remaining();
		if (end > this.written) {
			reserve((int) (end - this.written));
		}
		try {
			write(channel(), position, bytes);
		}
		catch (IOException ex) {
			throw Spool.diskFailure("written", ex);
		}
	}

	/** Writes bytes. If the disk is full, the spool removes files until the bytes fit. */
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
	 * Reads bytes from a position, up to the end of the file.
	 * @param position the offset in the file, in bytes
	 * @param bytes receives the bytes
	 * @throws SpoolException if the disk fails
	 */
	public synchronized void readAt(long position, ByteBuffer bytes) throws SpoolException {
		try {
			boolean wasClosed = this.channel == null;
			FileChannel file = channel();
			long at = position;
			for (int read = 0; read >= 0 && bytes.hasRemaining(); at += Math.max(0, read)) {
				read = file.read(bytes, at);
			}
			if (wasClosed) {
				closeChannel();
			}
		}
		catch (IOException ex) {
			throw Spool.diskFailure("read", ex);
		}
	}

	/**
	 * Maps the bytes written so far into memory, which changes the file. The mappings
	 * stay valid until they are garbage, even after the file was closed; but they must
	 * not be used after it was truncated.
	 * @param pieceBytes the size of all mappings but the last one
	 * @throws SpoolException if the disk fails
	 */
	public synchronized List<ByteBuffer> map(int pieceBytes) throws SpoolException {
		try {
			List<ByteBuffer> pieces = new ArrayList<>();
			for (long from = 0; from < this.written; from += pieceBytes) {
				pieces.add(channel().map(MapMode.READ_WRITE, from, Math.min(pieceBytes, this.written - from)));
			}
			return pieces;
		}
		catch (IOException ex) {
			throw Spool.diskFailure("mapped", ex);
		}
	}

	/**
	 * Truncates the file.
	 * @param bytes the new size
	 * @throws SpoolException if the disk fails
	 */
	public synchronized void truncate(long bytes) throws SpoolException {
		try {
			channel().truncate(bytes);
			this.written = bytes;
			closeChannel();
		}
		catch (IOException ex) {
			throw Spool.diskFailure("written", ex);
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
	 * Closes the channel until the file is read or written again, because a process may
	 * not have as many open files as there are in the spool.
	 */
	public synchronized void closeChannel() {
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
	 * @return the bytes written so far
	 */
	@Override
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
		closeChannel();
		try {
			Files.deleteIfExists(this.path);
		}
		catch (IOException ex) {
			logger.warn("A file of the spool could not be removed: {}", ex.toString());
		}
		this.spool.forget(this);
		this.spool.release(this.share, this.reserved);
	}

	private synchronized void reserve(int bytes) throws SpoolException {
		if (this.closed) {
			throw new SpoolException("The file in the spool was removed, so that no more can be written to it");
		}
		long more = this.written + bytes - this.reserved;
		if (more > 0) {
			this.spool.reserve(this.share, more);
			this.reserved += more;
		}
		this.written += bytes;
	}

	/** Writes the file; bytes count before they are written. */
	private final class SpoolOutputStream extends OutputStream {

		private final FileChannel file;

		private long position;

		private SpoolOutputStream(FileChannel file) {
			this.file = file;
		}

		@Override
		public void write(int single) throws IOException {
			write(new byte[] { (byte) single }, 0, 1);
		}

		@Override
		public void write(byte[] bytes, int offset, int length) throws IOException {
			reserve(length);
			try {
				SpoolFile.this.write(this.file, this.position, ByteBuffer.wrap(bytes, offset, length));
				this.position += length;
			}
			catch (IOException ex) {
				throw Spool.diskFailure("written", ex);
			}
		}

		@Override
		public void close() throws IOException {
			try {
				this.file.close();
			}
			catch (IOException ex) {
				throw Spool.diskFailure("written", ex);
			}
		}

	}

}
