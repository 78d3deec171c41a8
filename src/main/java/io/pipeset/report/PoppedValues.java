package io.pipeset.report;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.RandomAccess;

/**
 * Values that were taken out of Redis, in their order. Their bytes are kept as they came,
 * and a value is shown only when it is asked for.
 */
public final class PoppedValues extends AbstractList<Object> implements RandomAccess {

	/** The memory of a block of values, beside their bytes and ends. */
	private static final int BLOCK_BYTES = 96;

	private final List<Block> blocks = new ArrayList<>();

	private int size;

	/**
	 * Adds values, whose bytes are copied.
	 * @param source the array that holds their bytes
	 * @param spans the first byte of each, and the one behind its last
	 * @return the memory that they take from now on, in bytes
	 */
	long addAll(byte[] source, int[] spans, Display display) {
		int count = spans.length / 2;
		int[] ends = new int[count];
		int total = 0;
		for (int i = 0; i < count; i++) {
			total += spans[2 * i + 1] - spans[2 * i];
			ends[i] = total;
		}
		byte[] bytes = new byte[total];
		for (int i = 0; i < count; i++) {
			int length = spans[2 * i + 1] - spans[2 * i];
			System.arraycopy(source, spans[2 * i], bytes, ends[i] - length, length);
		}
		this.blocks.add(new Block(this.size, bytes, ends, display));
		this.size += count;
		return BLOCK_BYTES + total + (long) count * Integer.BYTES;
	}

	@Override
	public int size() {
		return this.size;
	}

	@Override
	public Object get(int index) {
		if (index < 0 || index >= this.size) {
			throw new IndexOutOfBoundsException(index);
		}
		int[] firsts = this.blocks.stream().mapToInt((block) -> block.first).toArray();
		int at = Arrays.binarySearch(firsts, index);
		Block block = this.blocks.get((at >= 0) ? at : -at - 2);
		return block.show(index - block.first);
	}

	@Override
	public Iterator<Object> iterator() {
		return new Iterator<>() {

			private int block;

			private int next;

			@Override
			public boolean hasNext() {
				return this.block < PoppedValues.this.blocks.size();
			}

			@Override
			public Object next() {
				if (!hasNext()) {
					throw new NoSuchElementException();
				}
				Block current = PoppedValues.this.blocks.get(this.block);
				Object value = current.show(this.next++);
				if (this.next == current.ends.length) {
					this.block++;
					this.next = 0;
				}
				return value;
			}

		};
	}

	/** Hands each value to a visitor, as bytes. */
	public void visit(Visitor visitor) {
		for (Block block : this.blocks) {
			int from = 0;
			for (int end : block.ends) {
				visitor.value(block.bytes, from, end, block.display);
				from = end;
			}
		}
	}

	/** Shows the bytes of a value in a report. */
	@FunctionalInterface
	public interface Display {

		/**
		 * Shows a value.
		 * @param to the byte behind its last
		 * @return a string, or a map that says how a string stands for the bytes
		 */
		Object show(byte[] bytes, int from, int to);

		/** Whether bytes of ASCII are shown as the string that they are. */
		default boolean isPlain() {
			return false;
		}

	}

	/** Gets values as bytes. */
	@FunctionalInterface
	public interface Visitor {

		/**
		 * Gets a value.
		 * @param bytes the array that holds it; not to be modified
		 * @param to the byte behind its last
		 */
		void value(byte[] bytes, int from, int to, Display display);

	}

	/** The values of one slab. */
	private static final class Block {

		private final int first;

		private final byte[] bytes;

		private final int[] ends;

		private final Display display;

		Block(int first, byte[] bytes, int[] ends, Display display) {
			this.first = first;
			this.bytes = bytes;
			this.ends = ends;
			this.display = display;
		}

		Object show(int value) {
			return this.display.show(this.bytes, (value == 0) ? 0 : this.ends[value - 1], this.ends[value]);
		}

	}

}
