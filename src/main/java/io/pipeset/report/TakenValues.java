package io.pipeset.report;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The values that a job took out of Redis. They exist nowhere else, so that the report
 * carries all of them, and a job stops before it takes more than the report can carry.
 */
public final class TakenValues {

	/** The memory of a value, beside its characters. */
	private static final int VALUE_BYTES = 72;

	/** The memory of an item that carries values, beside them. */
	private static final int ITEM_BYTES = 200;

	private final boolean apart;

	private final PoppedValues values = new PoppedValues();

	private long count;

	private long bytes;

	private long heldBytes;

	/** Asked for each pop, by the thread that reads. */
	private volatile long largestBytes;

	private boolean cutShort;

	/**
	 * No values yet.
	 * @param apart whether they stand in a list of their own and not in items
	 */
	TakenValues(boolean apart) {
		this.apart = apart;
	}

	/**
	 * Whether values stand in a list of their own.
	 * @return {@code false} where items carry them
	 */
	public boolean areApart() {
		return this.apart;
	}

	/**
	 * Adds values to the list of their own.
	 * @param source the array that holds their bytes, which are copied
	 * @param spans the first byte of each, and the one behind its last
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
	 * Adds values that are no longer in Redis, and that their item carries.
	 * @param reply the answer of Redis: a value, or a list of them
	 * @param largest the size of the largest of them
	 */
	public synchronized void add(Object reply, long bytes, long largest) {
		boolean several = reply instanceof List<?>;
		long added = (several) ? ((List<?>) reply).size() : 1;
		this.count += added;
		this.bytes += bytes;
		this.heldBytes += heapBytes(reply, added, bytes) + ITEM_BYTES;
		this.largestBytes = Math.max(this.largestBytes, largest);
	}

	/** Notes that a pop left values in Redis for which there was no room. */
	public synchronized void cutShort() {
		this.cutShort = true;
	}

	/**
	 * Whether a pop left values in Redis for which there was no room.
	 * @return {@code true} if the job is to take no more
	 */
	public synchronized boolean isCutShort() {
		return this.cutShort;
	}

	public synchronized long count() {
		return this.count;
	}

	/** The size of the values. */
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

	/** The memory of the values. */
	public synchronized long heldBytes() {
		return this.heldBytes;
	}

	/**
	 * The memory of a pop, beside its values.
	 * @return bytes; 0 if values stand in a list of their own
	 */
	public int popBytes() {
		return (this.apart) ? 0 : ITEM_BYTES;
	}

	/** The values in their order, or {@code null} if items carry them. */
	synchronized @Nullable List<Object> list() {
		return (this.apart) ? this.values : null;
	}

	/** The memory of values: twice their bytes if some characters are wide. */
	private static long heapBytes(Object reply, long values, long bytes) {
		long letters = letters(reply);
		if (reply instanceof List<?> list) {
			for (Object value : list) {
				letters += letters(value);
			}
		}
		return values * VALUE_BYTES + ((letters == bytes) ? letters : 2 * Math.max(letters, bytes));
	}

	private static int letters(@Nullable Object value) {
		return (value instanceof String text) ? text.length() : 0;
	}

}
