package io.pipeset.record.body;

import java.io.IOException;

/**
 * Says that the body broke off, or went wrong in a way that hides where its next record
 * begins.
 */
public final class MalformedBodyException extends IOException {

	private final long byteOffset;

	private final boolean compressed;

	/**
	 * Describes the mistake and its place.
	 * @param byteOffset the first byte that did not fit, from 0, in the inflated body
	 * @param message the bytes that were found and those that were expected
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
	 * Describes a mistake in the compression of a body, and its place.
	 * @param byteOffset the first byte that did not fit, from 0, as it came over the wire
	 * @param message the bytes that were found and those that were expected
	 */
	public static MalformedBodyException inCompressed(long byteOffset, String message) {
		return new MalformedBodyException(byteOffset, true, message);
	}

	/**
	 * The place of the mistake.
	 * @return the offset in bytes, from 0, in the inflated body unless it is
	 * {@link #isCompressed() compressed}
	 */
	public long byteOffset() {
		return this.byteOffset;
	}

	/**
	 * Whether the compression itself broke.
	 * @return {@code true} if the offset counts the bytes of the compressed body
	 */
	public boolean isCompressed() {
		return this.compressed;
	}

}
