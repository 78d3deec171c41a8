package io.pipeset.input;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Locale;

import com.github.luben.zstd.ZstdIOException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.memory.MemoryReservation;

/**
 * Decompresses a zstd body of one or more frames, by
 * <a href="https://www.rfc-editor.org/rfc/rfc8878">RFC 8878</a>. The library gets one
 * block at a time, so that it returns all blocks before a broken one, however the bytes
 * arrive. It ends only at the end of the body.
 */
final class ZstdBody extends CompressedBody {

	/**
	 * The largest window, by <a href="https://www.rfc-editor.org/rfc/rfc9659">RFC
	 * 9659</a>.
	 */
	private static final long MAX_WINDOW_BYTES = 8 << 20;

	/** The memory of the library in addition to the window: its state and two blocks. */
	private static final long OTHER_BYTES = 512 << 10;

	private static final long MAGIC = 0xFD2FB528L;

	private static final long SKIPPABLE_MAGIC = 0x184D2A50L;

	private static final int RLE = 1;

	private final MemoryReservation memory;

	private final ZstdInputStreamNoFinalizer library;

	/** The memory reserved so far, in bytes. */
	private long reserved;

	/** The offset of the current part in the body: of a header, block or checksum. */
	private long partStart;

	/** The bytes of the current part that were read, and are yet to be returned. */
	private final byte[] header = new byte[18];

	private int headerBytes;

	/** The other bytes of the current part that were not returned yet. */
	private long left;

	private boolean started;

	private boolean inFrame;

	/** The length of the checksum after the current frame. */
	private int checksumBytes;

	/**
	 * Decompresses a body.
	 * @param compressed the compressed bytes; left open
	 * @param memory reserves the memory of windows
	 */
	ZstdBody(InputStream compressed, MemoryReservation memory) {
		super(compressed, "zstd");
		this.memory = memory;
		try {
			this.library = new ZstdInputStreamNoFinalizer(new Parts());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		try {
			return this.library.read(target, offset, length);
		}
		catch (ZstdIOException ex) {
			throw brokenPart("zstd's data is broken: " + ex.getMessage());
		}
	}

	/** Releases the memory of the library. */
	@Override
	public void close() throws IOException {
		this.library.close();
		this.memory.release(this.reserved);
		this.reserved = 0;
	}

	/** Reads the header of the next part; {@code false} if the body ends instead. */
	private boolean openPart() throws IOException {
		this.partStart = offset();
		if (this.inFrame) {
			int block = (int) number(3);
			this.inFrame = (block & 1) == 0;
			this.left = ((block >> 1 & 3) == RLE) ? 1 : block >>> 3;
		}
		else if (this.checksumBytes > 0) {
			number(this.checksumBytes);
			this.checksumBytes = 0;
		}
		else if (this.started && isAtEnd()) {
			return false;
		}
		else {
			openFrame();
		}
		return true;
	}

	private void openFrame() throws IOException {
		this.started = true;
		long magic = number(4);
		if ((magic & ~0xFL) == SKIPPABLE_MAGIC) {
			this.left = number(4);
			return;
		}
		if (magic != MAGIC) {
			throw brokenPart(String.format(Locale.ROOT, "expected zstd's bytes 28 B5 2F FD, found %02X %02X %02X %02X",
					this.header[0], this.header[1], this.header[2], this.header[3]));
		}
		int descriptor = next();
		boolean single = (descriptor & 0x20) != 0;
		long window = (single) ? 0 : window(next());
		if (number(new int[] { 0, 1, 2, 4 }[descriptor & 3]) != 0) {
			throw brokenPart("zstd's data needs a dictionary, which is not supported");
		}
		int sizeBytes = new int[] { (single) ? 1 : 0, 2, 4, 8 }[descriptor >> 6];
		long size = number(sizeBytes) + ((sizeBytes == 2) ? 256 : 0);
		reserve((single) ? size : window);
		this.inFrame = true;
		this.checksumBytes = descriptor & 4;
	}

	private static long window(int descriptor) {
		long base = 1L << (10 + (descriptor >> 3));
		return base + base / 8 * (descriptor & 7);
	}

	private void reserve(long window) throws IOException {
		if (window < 0 || window > MAX_WINDOW_BYTES) {
			throw brokenPart("zstd's data needs a window of " + Long.toUnsignedString(window) + " bytes; allowed are "
					+ MAX_WINDOW_BYTES + " (RFC 9659): compress it without --long and --ultra");
		}
		long more = Math.max(0, window + OTHER_BYTES - this.reserved);
		this.memory.reserve(more);
		this.reserved += more;
	}

	@Override
	protected int next() throws IOException {
		int next = super.next();
		this.header[this.headerBytes++] = (byte) next;
		return next;
	}

	private MalformedBodyException brokenPart(String message) {
		return MalformedBodyException.inCompressed(this.partStart, message);
	}

	/** Reads bytes of one part at most. The library's buffer is larger than a header. */
	private int readPart(byte[] target, int offset, int length) throws IOException {
		if (this.headerBytes == 0 && this.left == 0 && !openPart()) {
			return -1;
		}
		if (this.headerBytes > 0) {
			int count = this.headerBytes;
			System.arraycopy(this.header, 0, target, offset, count);
			this.headerBytes = 0;
			return count;
		}
		if (isAtEnd()) {
			throw broken("the body ends inside zstd's data");
		}
		int count = (int) Math.min(Math.min(length, this.left), this.end - this.position);
		System.arraycopy(this.buffer, this.position, target, offset, count);
		this.position += count;
		this.left -= count;
		return count;
	}

	/** The compressed bytes as the library reads them. */
	private final class Parts extends InputStream {

		/** Tells the library to return what it has before it reads more. */
		@Override
		public int available() {
			return 0;
		}

		@Override
		public int read() {
			throw new UnsupportedOperationException();
		}

		@Override
		public int read(byte[] target, int offset, int length) throws IOException {
			return readPart(target, offset, length);
		}

	}

}
