package io.pipeset.input;

import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

import io.pipeset.record.body.MalformedBodyException;
import org.jspecify.annotations.Nullable;

/**
 * Inflates a gzip body of one or more members, by
 * <a href="https://www.rfc-editor.org/rfc/rfc1952">RFC 1952</a>. It returns all bytes
 * that it can inflate before it waits for more. It ends only at the end of the body:
 * {@link java.util.zip.GZIPInputStream} ends without an error where the header of a later
 * member is broken or breaks off, so that records would be lost.
 */
final class GzipBody extends CompressedBody {

	private static final int HAS_HEADER_CHECK = 2;

	private static final int HAS_EXTRA = 4;

	private static final int HAS_NAME = 8;

	private static final int HAS_COMMENT = 16;

	private static final int RESERVED = 0xE0;

	private final Inflater inflater = new Inflater(true);

	private final CRC32 checksum = new CRC32();

	private boolean started;

	private boolean inMember;

	/** The fault in the compressed data; {@code null} if there is none so far. */
	private @Nullable MalformedBodyException failure;

	/**
	 * Inflates a body.
	 * @param compressed the compressed bytes; left open
	 */
	GzipBody(InputStream compressed) {
		super(compressed, "gzip");
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		while (this.inMember || openMember()) {
			if (this.failure != null) {
				throw this.failure;
			}
			int count = inflate(target, offset, length);
			if (count > 0 || length == 0) {
				return count;
			}
			if (this.inflater.finished()) {
				closeMember();
			}
			else if (this.failure == null && isAtEnd()) {
				throw broken("the body ends inside gzip's data");
			}
		}
		return -1;
	}

	/** Releases the memory of the inflater. */
	@Override
	public void close() {
		this.inflater.end();
	}

	/**
	 * Inflates bytes. Bytes before a fault are returned before the exception is thrown,
	 * so that the records that run do not depend on how the bytes arrive.
	 */
	private int inflate(byte[] target, int offset, int length) {
		long before = this.inflater.getBytesWritten();
		this.inflater.setInput(this.buffer, this.position, this.end - this.position);
		String fault = null;
		try {
			this.inflater.inflate(target, offset, length);
		}
		catch (DataFormatException ex) {
			fault = "gzip's data is broken: " + ex.getMessage();
		}
		this.position = this.end - this.inflater.getRemaining();
		this.failure = (fault != null) ? broken(fault) : null;
		int count = (int) (this.inflater.getBytesWritten() - before);
		this.checksum.update(target, offset, count);
		return count;
	}

	/** Reads the header of the next member; {@code false} if the body ends instead. */
	private boolean openMember() throws IOException {
		if (this.started && isPadded()) {
			return false;
		}
		this.started = true;
		this.checksum.reset();
		expect(0x1F);
		expect(0x8B);
		expect(0x08);
		int flags = next();
		if ((flags & RESERVED) != 0) {
			this.position--;
			throw broken("gzip's header has reserved flags");
		}
		number(6);
		if ((flags & HAS_EXTRA) != 0) {
			for (long left = number(2); left > 0; left--) {
				next();
			}
		}
		if ((flags & HAS_NAME) != 0) {
			skipText();
		}
		if ((flags & HAS_COMMENT) != 0) {
			skipText();
		}
		if ((flags & HAS_HEADER_CHECK) != 0) {
			expectNumber(this.checksum.getValue() & 0xFFFF, 2, "gzip's header has a wrong checksum");
		}
		this.inMember = true;
		this.checksum.reset();
		this.inflater.reset();
		return true;
	}

	/** Whether only zeros follow, which files written in blocks have as padding. */
	private boolean isPadded() throws IOException {
		boolean padded = false;
		while (!isAtEnd()) {
			if (this.buffer[this.position] == 0) {
				padded = true;
				this.position++;
			}
			else if (padded) {
				throw broken(String.format(Locale.ROOT,
						"expected zeros or the end after gzip's last member, found byte 0x%02X",
						this.buffer[this.position]));
			}
			else {
				return false;
			}
		}
		return true;
	}

	private void closeMember() throws IOException {
		expectNumber(this.checksum.getValue(), 4, "gzip's data has a wrong checksum");
		expectNumber(this.inflater.getBytesWritten() & 0xFFFFFFFFL, 4, "gzip's data has a wrong length");
		this.inMember = false;
	}

	private void expect(int expected) throws IOException {
		int found = next();
		if (found != expected) {
			this.position--;
			throw broken(String.format(Locale.ROOT, "expected gzip's byte 0x%02X, found byte 0x%02X", expected, found));
		}
	}

	private void expectNumber(long expected, int bytes, String otherwise) throws IOException {
		if (number(bytes) != expected) {
			throw broken(otherwise);
		}
	}

	private void skipText() throws IOException {
		int found;
		do {
			found = next();
		}
		while (found != 0);
	}

	@Override
	protected int next() throws IOException {
		int found = super.next();
		this.checksum.update(found);
		return found;
	}

}
