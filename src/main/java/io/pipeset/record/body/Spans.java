package io.pipeset.record.body;

import java.util.Arrays;

import io.pipeset.record.memory.MemoryReservation;

/**
 * The places of words, cells or strings in the bytes of a record. A parser notes them
 * down until it knows that the record is good.
 */
public final class Spans {

	/**
	 * The number of spans whose memory every job has; that for more is taken from the
	 * room.
	 */
	private static final int FEW = 1024;

	private static final int SPAN_BYTES = 8;

	private final MemoryReservation room;

	private int[] offsetsAndLengths = new int[32];

	private int count;

	public Spans(MemoryReservation room) {
		this.room = room;
	}

	/** Forgets all spans, and gives the memory for many back. */
	public void clear() {
		this.count = 0;
		if (capacity() > FEW) {
			this.room.give(further(capacity()));
			this.offsetsAndLengths = new int[FEW * 2];
		}
	}

	public int count() {
		return this.count;
	}

	/**
	 * The offset of a span as it was noted down.
	 * @param span its position, from 0
	 */
	public int offset(int span) {
		return this.offsetsAndLengths[span * 2];
	}

	/**
	 * The length of a span as it was noted down.
	 * @param span its position, from 0
	 */
	public int length(int span) {
		return this.offsetsAndLengths[span * 2 + 1];
	}

	/**
	 * Notes a span down.
	 * @param length its length in bytes, or another number that means something to the
	 * parser
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
	 * Notes a span down in place of another one.
	 * @param span the position of that one, from 0
	 */
	public void set(int span, int offset, int length) {
		this.offsetsAndLengths[span * 2] = offset;
		this.offsetsAndLengths[span * 2 + 1] = length;
	}

	private int capacity() {
		return this.offsetsAndLengths.length / 2;
	}

	private void grow(int size) {
		if (size > FEW) {
			this.room.take(further(size));
			this.room.give(further(capacity()));
		}
		this.offsetsAndLengths = Arrays.copyOf(this.offsetsAndLengths, size * 2);
	}

	private static long further(int size) {
		return (size > FEW) ? MemoryReservation.ofArray((long) size * SPAN_BYTES) : 0;
	}

}
