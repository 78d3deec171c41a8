package io.pipeset.record.body;

import java.util.Arrays;

import io.pipeset.record.memory.MemoryReservation;

/**
 * The offsets and lengths of words, cells or strings in the bytes of a record. A parser
 * collects them until it knows that the record is valid.
 */
public final class Spans {

	/** The largest number of spans that needs no memory reservation. */
	private static final int MAX_UNRESERVED_SPANS = 1024;

	private static final int SPAN_BYTES = 8;

	private final MemoryReservation memory;

	private int[] offsetsAndLengths = new int[32];

	private int count;

	public Spans(MemoryReservation memory) {
		this.memory = memory;
	}

	/** Removes all spans. If memory was reserved for them, releases it. */
	public void clear() {
		this.count = 0;
		if (capacity() > MAX_UNRESERVED_SPANS) {
			this.memory.release(reservedBytes(capacity()));
			this.offsetsAndLengths = new int[MAX_UNRESERVED_SPANS * 2];
		}
	}

	public int count() {
		return this.count;
	}

	/**
	 * The offset of a span.
	 * @param span its position, from 0
	 */
	public int offset(int span) {
		return this.offsetsAndLengths[span * 2];
	}

	/**
	 * The length of a span.
	 * @param span its position, from 0
	 */
	public int length(int span) {
		return this.offsetsAndLengths[span * 2 + 1];
	}

	/**
	 * Adds a span.
	 * @param length its length in bytes, or another number with a meaning for the parser
	 */
	public void add(int offset, int length) {
		if (this.count == capacity()) {
			grow(this.count + this.count / 2);
		}
		this.offsetsAndLengths[this.count * 2] = offset;
		this.offsetsAndLengths[this.count * 2 + 1] = length;
		this.count++;
	}

	/**
	 * Replaces a span.
	 * @param span the position of the replaced span, from 0
	 */
	public void set(int span, int offset, int length) {
		this.offsetsAndLengths[span * 2] = offset;
		this.offsetsAndLengths[span * 2 + 1] = length;
	}

	private int capacity() {
		return this.offsetsAndLengths.length / 2;
	}

	private void grow(int size) {
		if (size > MAX_UNRESERVED_SPANS) {
			this.memory.reserve(reservedBytes(size));
			this.memory.release(reservedBytes(capacity()));
		}
		this.offsetsAndLengths = Arrays.copyOf(this.offsetsAndLengths, size * 2);
	}

	private static long reservedBytes(int size) {
		return (size > MAX_UNRESERVED_SPANS) ? MemoryReservation.ofArray((long) size * SPAN_BYTES) : 0;
	}

}
