package io.pipeset.record;

import java.io.IOException;

/** The body broke off or went wrong in a way that hides where its next record begins. */
public final class MalformedBodyException extends IOException {

	private final long byteOffset;

	private final boolean compressed;

	/**
	 * Says what was found where.
	 * @param byteOffset the first byte that did not fit, from 0, in the inflated body
	 * @param message what was found and what was expected
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
	 * Says what was found where in a compressed body.
	 * @param byteOffset the first byte that did not fit, from 0, as it came over the wire
	 * @param message what was found and what was expected
	 * @return the exception
	 */
	public static MalformedBodyException inCompressed(long byteOffset, String message) {
		return new MalformedBodyException(byteOffset, true, message);
	}

	/**
	 * Where it went wrong.
	 * @return the offset in bytes, from 0, in the inflated body unless it is
	 * {@link #isCompressed() compressed}
	 */
	public long byteOffset() {
		return this.byteOffset;
	}

	/**
	 * Whether the compression itself broke.
	 * @return {@code true} where the offset counts the bytes of the compressed body
	 */
	public boolean isCompressed() {
		return this.compressed;
	}

}
