package io.pipeset.input;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

import io.pipeset.record.body.MalformedBodyException;
import org.jspecify.annotations.Nullable;

/**
 * Converts a body of another charset to UTF-8, which the formats read. It returns all
 * bytes that it can decode before it waits for more.
 */
final class DecodedBody extends InputStream {

	private static final int BUFFER_BYTES = 8 * 1024;

	private final InputStream body;

	private final Charset charset;

	private final CharsetDecoder decoder;

	private final CharsetEncoder encoder = StandardCharsets.UTF_8.newEncoder();

	private final ByteBuffer in = ByteBuffer.allocate(BUFFER_BYTES);

	private final CharBuffer chars;

	private final ByteBuffer out;

	/** How many bytes of the body were decoded. */
	private long offset;

	private boolean ended;

	private @Nullable MalformedBodyException fault;

	private DecodedBody(InputStream body, Charset charset) {
		this.body = body;
		this.charset = charset;
		this.decoder = charset.newDecoder();
		this.chars = CharBuffer.allocate((int) Math.ceil(BUFFER_BYTES * (double) this.decoder.maxCharsPerByte()) + 2);
		this.out = ByteBuffer.allocate((int) Math.ceil(this.chars.capacity() * (double) this.encoder.maxBytesPerChar()))
			.limit(0);
	}

	/**
	 * Decodes a body.
	 * @param body the bytes; left open
	 * @return the body itself if its charset is UTF-8
	 */
	static InputStream of(InputStream body, Charset charset) {
		return (charset.equals(StandardCharsets.UTF_8)) ? body : new DecodedBody(body, charset);
	}

	@Override
	public int read() throws IOException {
		byte[] single = new byte[1];
		return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
	}

	@Override
	public int read(byte[] target, int offset, int length) throws IOException {
		while (!this.out.hasRemaining()) {
			if (this.fault != null) {
				throw this.fault;
			}
			if (this.ended) {
				return -1;
			}
			fill();
		}
		int count = Math.min(length, this.out.remaining());
		this.out.get(target, offset, count);
		return count;
	}

	private void fill() throws IOException {
		int count = this.body.read(this.in.array(), this.in.position(), this.in.remaining());
		this.in.position(this.in.position() + Math.max(0, count)).flip();
		CoderResult decoded = this.decoder.decode(this.in, this.chars, count < 0);
		this.ended = count < 0 && decoded.isUnderflow();
		if (this.ended) {
			this.decoder.flush(this.chars);
		}
		this.offset += this.in.position();
		this.in.compact();
		this.chars.flip();
		CoderResult encoded = this.encoder.encode(this.chars, this.out.clear(), this.ended);
		this.chars.compact();
		this.out.flip();
		if (decoded.isError() || encoded.isError()) {
			// The bytes before the fault are returned first.
			this.fault = new MalformedBodyException(this.offset, "the bytes are not " + this.charset
					+ ", the charset of the Content-Type: name the charset of the file there");
		}
	}

}
