package io.pipeset.report;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The account of the values that a job popped. They exist nowhere else, so the report
 * must include all of them. A job stops before it pops more than the report can include.
 */
public final class PopAccount {

	/** The memory of a value in bytes, without its characters. */
	private static final int VALUE_BYTES = 72;

	/** The memory in bytes of an item that has values, without the values. */
	private static final int ITEM_BYTES = 200;

	private final boolean apart;

	private final PoppedValues values = new PoppedValues();

	private long count;

	private long bytes;

	private long heldBytes;

	/** Volatile because the reading thread checks it for each pop. */
	private volatile long largestBytes;

	private boolean cutShort;

	/**
	 * Creates an account without values.
	 * @param apart whether the values are in a list of their own and not in items
	 */
	PopAccount(boolean apart) {
		this.apart = apart;
	}

	/**
	 * Whether the values are in a list of their own.
	 * @return {@code false} if the items have them
	 */
	public boolean areSeparate() {
		return this.apart;
	}

	/**
	 * Adds copies of values to the list.
	 * @param source the array with their bytes
	 * @param spans for each value, the index of its first byte and the index after its
	 * last byte
	 * @param display decodes them
	 */
	public synchronized void addAll(byte[] source, int[] spans, PoppedValues.Display display) {
		long largest = this.largestBytes;
		for (int i = 0; i < spans.length; i += 2) {
			int length = spans[i + 1] - spans[i];
			this.bytes += length;
			largest = Math.max(largest, length);
		}
		this.count += spans.length / 2;
		this.heldBytes += this.values.addAll(source, spans, display);
		this.largestBytes = largest;
	}

	/**
	 * Counts values that are in an item.
	 * @param reply the reply of Redis: a value, or a list of values
	 * @param bytes the size of all values, in bytes
	 * @param largest the size of the largest value, in bytes
	 */
	public synchronized void add(Object reply, long bytes, long largest) {
		boolean several = reply instanceof List<?>;
		long added = (several) ? ((List<?>) reply).size() : 1;
		this.count += added;
		this.bytes += bytes;
		this.heldBytes += heapBytes(reply, added, bytes) + ITEM_BYTES;
		this.largestBytes = Math.max(this.largestBytes, largest);
	}

	/** Notes that a pop left values in Redis because memory was missing. */
	public synchronized void cutShort() {
		this.cutShort = true;
	}

	/**
	 * Whether a pop left values in Redis because memory was missing.
	 * @return {@code true} if the job must not pop more
	 */
	public synchronized boolean isCutShort() {
		return this.cutShort;
	}

	public synchronized long count() {
		return this.count;
	}

	/** The size of the values, in bytes. */
	public synchronized long bytes() {
		return this.bytes;
	}

	/**
	 * The size of the largest value.
	 * @return bytes; 0 before there was one
	 */
	public long largestBytes() {
		return this.largestBytes;
	}

	/** The memory that the values use, in bytes. */
	public synchronized long heldBytes() {
		return this.heldBytes;
	}

	/**
	 * The memory of a pop, without its values.
	 * @return bytes; 0 if the values are in a list of their own
	 */
	public int popBytes() {
		return (this.apart) ? 0 : ITEM_BYTES;
	}

	/** The values in their order; {@code null} if the items have them. */
	synchronized @Nullable List<Object> list() {
		return (this.apart) ? this.values : null;
	}

	/**
	 * The memory of values, in bytes. It is at least twice their size if not all of them
	 * are ASCII.
	 */
	private static long heapBytes(Object reply, long values, long bytes) {
		long chars = chars(reply);
		if (reply instanceof List<?> list) {
			for (Object value : list) {
				chars += chars(value);
			}
		}
		return values * VALUE_BYTES + ((chars == bytes) ? chars : 2 * Math.max(chars, bytes));
	}

	private static int chars(@Nullable Object value) {
		return (value instanceof String text) ? text.length() : 0;
	}

}
