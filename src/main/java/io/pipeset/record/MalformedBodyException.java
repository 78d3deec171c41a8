package io.pipeset.record;

import java.io.IOException;

/** The body broke off or went wrong in a way that hides where its next record begins. */
public final class MalformedBodyException extends IOException {

	private final long byteOffset;

	/**
	 * Says what was found where.
	 * @param byteOffset the first byte that did not fit, from 0, in the inflated body
	 * @param message what was found and what was expected
	 */
	public MalformedBodyException(long byteOffset, String message) {
		super(message);
		this.byteOffset = byteOffset;
	}

	/**
	 * Where it went wrong.
	 * @return the offset in bytes, from 0, in the inflated body
	 */
	public long byteOffset() {
		return this.byteOffset;
	}

}
