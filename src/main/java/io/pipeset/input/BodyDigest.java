package io.pipeset.input;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The SHA-256 of a request and of its body, updated while the body is read. */
public final class BodyDigest {

	private final MessageDigest digest;

	private long bytes;

	private boolean ended;

	/**
	 * Creates the digest of a request.
	 * @param request the request without its body
	 */
	public BodyDigest(String request) {
		try {
			this.digest = MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every JDK has SHA-256", ex);
		}
		byte[] text = request.getBytes(StandardCharsets.UTF_8);
		this.digest.update(text);
	}

	/**
	 * Adds a body while it is read.
	 * @param body the bytes of the records
	 * @return a stream of the same bytes
	 */
	InputStream of(InputStream body) {
		return new FilterInputStream(body) {

			@Override
			public int read() throws IOException {
				byte[] single = new byte[1];
				return (read(single, 0, 1) < 0) ? -1 : single[0] & 0xff;
			}

			@Override
			public int read(byte[] target, int offset, int length) throws IOException {
				int count = super.read(target, offset, length);
				if (count < 0) {
					BodyDigest.this.ended = true;
				}
				else {
					BodyDigest.this.digest.update(target, offset, count);
					BodyDigest.this.bytes += count;
				}
				return count;
			}

		};
	}

	/** How many bytes of the body have been read. */
	public long bytes() {
		return this.bytes;
	}

	/**
	 * Whether the body was read to its end.
	 * @return {@code true} also after {@link #end}
	 */
	public boolean isEnded() {
		return this.ended;
	}

	/** Marks the body as read to its end, or as absent. */
	public void end() {
		this.ended = true;
	}

	/**
	 * The digest; the body must not be read afterwards.
	 * @return 64 hexadecimal digits
	 */
	public String value() {
		return HexFormat.of().formatHex(this.digest.digest());
	}

}
