package io.pipeset.record.body;

import java.io.IOException;

/**
 * Thrown if a body ends too early, or has a mistake after which the next record cannot be
 * found.
 */
public final class MalformedBodyException extends IOException {

	private final long byteOffset;

	private final boolean compressed;

	/**
	 * Creates the exception for a mistake in the inflated body.
	 * @param byteOffset the offset of the first wrong byte, from 0, in the inflated body
	 * @param message the bytes found and the bytes expected
	 */
	public MalformedBodyException(long byteOffset, String message) {
		this(byteOffset, false, message);
	}

	private MalformedBodyException(long byteOffset, boolean compressed, String message) {
		super(message);
		this.byteOffset = byteOffset;
		this.compressed = compressed;
	}

	/**
	 * Creates the exception for a mistake in a body's compression.
	 * @param byteOffset the offset of the first wrong byte, from 0, in the compressed
	 * body
	 * @param message the bytes found and the bytes expected
	 */
	public static MalformedBodyException inCompressed(long byteOffset, String message) {
		return new MalformedBodyException(byteOffset, true, message);
	}

	/**
	 * The offset of the mistake.
	 * @return bytes from 0: in the compressed body if {@link #isCompressed()}, otherwise
	 * in the inflated body
	 */
	public long byteOffset() {
		return this.byteOffset;
	}

	/**
	 * Whether the mistake is in the compression.
	 * @return {@code true} if the offset counts the bytes of the compressed body
	 */
	public boolean isCompressed() {
		return this.compressed;
	}

}
