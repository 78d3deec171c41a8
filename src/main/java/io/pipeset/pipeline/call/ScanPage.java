package io.pipeset.pipeline.call;

import java.util.ArrayList;
import java.util.List;

/**
 * The keys of one answer to SCAN, taken over one by one as the driver reads them, so that
 * an answer that is too large is not kept whole.
 */
public final class ScanPage {

	/** The memory of a key beside its bytes: the array, and the reference to it. */
	private static final int KEY_BYTES = 24;

	private final List<byte[]> keys = new ArrayList<>();

	private final long maxBytes;

	private final boolean restarted;

	private long bytes;

	private ScanPlace next = ScanPlace.START;

	ScanPage(long maxBytes, boolean restarted) {
		this.maxBytes = maxBytes;
		this.restarted = restarted;
	}

	void add(byte[] key) {
		this.bytes += key.length + KEY_BYTES;
		if (isTooLarge()) {
			this.keys.clear();
		}
		else {
			this.keys.add(key);
		}
	}

	void next(ScanPlace next) {
		this.next = next;
	}

	/**
	 * The keys.
	 * @return them in the server's order; none if they are too large
	 */
	public List<byte[]> keys() {
		return this.keys;
	}

	/**
	 * The memory of the keys.
	 * @return bytes, those that were not kept included
	 */
	public long bytes() {
		return this.bytes;
	}

	/**
	 * Whether the keys were not kept, because they take more memory than they may.
	 * @return {@code true} where the same place has to be asked for fewer keys
	 */
	public boolean isTooLarge() {
		return this.bytes > this.maxBytes;
	}

	/**
	 * The place from which SCAN goes on.
	 * @return the place behind these keys
	 */
	public ScanPlace next() {
		return this.next;
	}

	/**
	 * Whether the place asked for had lost its meaning, as the server has begun another
	 * life or may have: these keys are the first ones.
	 * @return {@code false} where they follow the keys before
	 */
	public boolean isRestarted() {
		return this.restarted;
	}

}
