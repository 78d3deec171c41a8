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
final class ZstdBody extends InputStream {

	/**
	 * The largest window, by <a href="https://www.rfc-editor.org/rfc/rfc9659">RFC
	 * 9659</a>.
	 */
	private static final long MAX_WINDOW_BYTES = 8 << 20;

	private static final int MAX_WINDOW_LOG = 23;

	/** The memory of the library in addition to the window: its state and two blocks. */
	private static final long OTHER_BYTES = 512 << 10;

	private final MemoryReservation memory;

	private final Blocks blocks;

	private final ZstdInputStreamNoFinalizer library;

	/** The memory reserved so far, in bytes. */
	private long reserved;

	/**
	 * Decompresses a body.
	 * @param compressed the compressed bytes; left open
	 * @param memory reserves the memory of windows
	 */
	ZstdBody(InputStream compressed, MemoryReservation memory) {
		this.memory = memory;
		this.blocks = new Blocks(compressed);
		try {
			this.library = new ZstdInputStreamNoFinalizer(this.blocks);
			this.library.setLongMax(MAX_WINDOW_LOG);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public int read() throws IOException {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		try {
			return this.library.read(target, offset, length);
		}
		catch (ZstdIOException ex) {
			throw this.blocks.broken(this.blocks.partStart, "zstd's data is broken");
		}
	}

	/** Releases the memory of the library. */
	@Override
	public void close() throws IOException {
		this.library.close();
		this.memory.release(this.reserved);
		this.reserved = 0;
	}

	private void reserve(long windowBytes) {
		long more = windowBytes + OTHER_BYTES - this.reserved;
		if (more > 0) {
			this.memory.reserve(more);
			this.reserved += more;
		}
	}

	/**
	 * The compressed bytes. A read returns bytes of one part at most: of a header or a
	 * block.
	 */
	private final class Blocks extends InputStream {

		private static final int BUFFER_BYTES = 16 * 1024;

		private static final long MAGIC = 0xFD2FB528L;

		private static final long SKIPPABLE_MAGIC = 0x184D2A50L;

		private static final int CHECKSUM_BYTES = 4;

		private static final int RLE = 1;

		private static final int RESERVED = 3;

		private final InputStream compressed;

		private final byte[] buffer = new byte[BUFFER_BYTES];

		private int position;

		private int end;

		/** The offset of the buffer's first byte in the body. */
		private long offset;

		/** The offset of the current part in the body. */
		private long partStart;

		/** The bytes of the current part that were not returned yet. */
		private long left;

		/** A header that was read, and is yet to be returned. */
		private final byte[] header = new byte[18];

		private int headerBytes;

		private int headerReturned;

		private boolean started;

		private boolean inFrame;

		private boolean hasChecksum;

		private boolean wasLast;

		private Blocks(InputStream compressed) {
			this.compressed = compressed;
		}

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
			if (this.headerReturned == this.headerBytes && this.left == 0 && !openPart()) {
				return -1;
			}
			if (this.headerReturned < this.headerBytes) {
				int count = Math.min(length, this.headerBytes - this.headerReturned);
				System.arraycopy(this.header, this.headerReturned, target, offset, count);
				this.headerReturned += count;
				return count;
			}
			if (this.position == this.end && !fill()) {
				throw broken(offset(), "the body ends inside zstd's data");
			}
			int count = (int) Math.min(Math.min(length, this.left), this.end - this.position);
			System.arraycopy(this.buffer, this.position, target, offset, count);
			this.position += count;
			this.left -= count;
			return count;
		}

		/** Reads the next header; {@code false} if the body ends instead. */
		private boolean openPart() throws IOException {
			this.partStart = offset();
			this.headerBytes = 0;
			this.headerReturned = 0;
			if (this.inFrame && this.wasLast) {
				this.inFrame = false;
				this.left = (this.hasChecksum) ? CHECKSUM_BYTES : 0;
				if (this.left > 0) {
					return true;
				}
			}
			if (this.inFrame) {
				openBlock();
				return true;
			}
			if (this.started && this.position == this.end && !fill()) {
				return false;
			}
			openFrame();
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
				throw broken(this.partStart,
						String.format(Locale.ROOT, "expected zstd's bytes 28 B5 2F FD, found %02X %02X %02X %02X",
								this.header[0], this.header[1], this.header[2], this.header[3]));
			}
			int descriptor = (int) number(1);
			boolean single = (descriptor & 0x20) != 0;
			long window = (single) ? 0 : window((int) number(1));
			int dictionaryBytes = new int[] { 0, 1, 2, 4 }[descriptor & 3];
			if ((descriptor & 8) != 0) {
				throw broken(this.partStart, "zstd's header has a reserved bit");
			}
			if (number(dictionaryBytes) != 0) {
				throw broken(this.partStart, "zstd's data needs a dictionary, which is not supported");
			}
			int sizeBytes = new int[] { (single) ? 1 : 0, 2, 4, 8 }[descriptor >> 6];
			long size = number(sizeBytes) + ((sizeBytes == 2) ? 256 : 0);
			window = (single) ? size : window;
			if (window < 0 || window > MAX_WINDOW_BYTES) {
				throw broken(this.partStart,
						"zstd's data needs a window of " + Long.toUnsignedString(window) + " bytes; allowed are "
								+ MAX_WINDOW_BYTES + " (RFC 9659): compress it without --long and --ultra");
			}
			reserve(window);
			this.inFrame = true;
			this.wasLast = false;
			this.hasChecksum = (descriptor & 4) != 0;
		}

		private static long window(int descriptor) {
			long base = 1L << (10 + (descriptor >> 3));
			return base + base / 8 * (descriptor & 7);
		}

		private void openBlock() throws IOException {
			int block = (int) number(3);
			int type = block >> 1 & 3;
			if (type == RESERVED) {
				throw broken(this.partStart, "zstd's block has a reserved type");
			}
			this.wasLast = (block & 1) != 0;
			this.left = (type == RLE) ? 1 : block >>> 3;
		}

		/** Reads a little-endian number into the header. */
		private long number(int bytes) throws IOException {
			long number = 0;
			for (int i = 0; i < bytes; i++) {
				if (this.position == this.end && !fill()) {
					throw broken(offset(), "the body ends inside zstd's header");
				}
				byte next = this.buffer[this.position++];
				this.header[this.headerBytes++] = next;
				number |= (next & 0xFFL) << (8 * i);
			}
			return number;
		}

		private boolean fill() throws IOException {
			int count = this.compressed.read(this.buffer);
			if (count < 0) {
				return false;
			}
			this.offset += this.end;
			this.position = 0;
			this.end = count;
			return true;
		}

		private long offset() {
			return this.offset + this.position;
		}

		private MalformedBodyException broken(long at, String message) {
			return MalformedBodyException.inCompressed(at, message);
		}

	}

}
