package io.pipeset.report;

import java.util.ArrayList;
import java.util.Collections;
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

	private final List<Object> values = new ArrayList<>();

	private long count;

	private long bytes;

	private long heldBytes;

	private long largestBytes;

	private boolean cutShort;

	/**
	 * No values yet.
	 * @param apart whether they stand in a list of their own and not in items
	 */
	TakenValues(boolean apart) {
		this.apart = apart;
	}

	/**
	 * Adds values that are no longer in Redis.
	 * @param reply the answer of Redis: a value, or a list of them
	 * @param bytes their size
	 * @param largest the size of the largest of them
	 * @return whether they still have to be listed with their item
	 */
	public synchronized boolean add(Object reply, long bytes, long largest) {
		boolean several = reply instanceof List<?>;
		long added = (several) ? ((List<?>) reply).size() : 1;
		this.count += added;
		this.bytes += bytes;
		this.heldBytes += heapBytes(reply, added, bytes) + popBytes();
		this.largestBytes = Math.max(this.largestBytes, largest);
		if (this.apart && several) {
			this.values.addAll((List<?>) reply);
		}
		else if (this.apart) {
			this.values.add(reply);
		}
		return !this.apart;
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

	/**
	 * The number of values.
	 * @return the count
	 */
	public synchronized long count() {
		return this.count;
	}

	/**
	 * The size of the values.
	 * @return bytes
	 */
	public synchronized long bytes() {
		return this.bytes;
	}

	/**
	 * The size of the largest value.
	 * @return bytes; 0 before there was one
	 */
	public synchronized long largestBytes() {
		return this.largestBytes;
	}

	/**
	 * The memory of the values.
	 * @return bytes
	 */
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
		return (this.apart) ? Collections.unmodifiableList(this.values) : null;
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
