package io.pipeset.report;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.RandomAccess;

/**
 * A list of popped values in their order. It stores the bytes and decodes a value only
 * when it is read.
 */
public final class PoppedValues extends AbstractList<Object> implements RandomAccess {

	/** The memory of a block in bytes, without its values and ends. */
	private static final int BLOCK_BYTES = 96;

	private final List<Block> blocks = new ArrayList<>();

	private int size;

	/**
	 * Adds copies of values.
	 * @param source the array with their bytes
	 * @param spans for each value, the index of its first byte and the index after its
	 * last byte
	 * @param display decodes them
	 * @return the memory that they use, in bytes
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

	/** Passes each value to a visitor, as bytes. */
	public void visit(Visitor visitor) {
		for (Block block : this.blocks) {
			int from = 0;
			for (int end : block.ends) {
				visitor.value(block.bytes, from, end, block.display);
				from = end;
			}
		}
	}

	/** Converts the bytes of a value for a report. */
	@FunctionalInterface
	public interface Display {

		/**
		 * Converts a value.
		 * @param from the index of its first byte
		 * @param to the index after its last byte
		 * @return a string, or a map with the name of an encoding and the encoded string
		 */
		Object show(byte[] bytes, int from, int to);

		/** Whether ASCII bytes are converted to the same string. */
		default boolean isPlain() {
			return false;
		}

	}

	/** Receives values as bytes. */
	@FunctionalInterface
	public interface Visitor {

		/**
		 * Receives a value.
		 * @param bytes the array with its bytes, which must not be modified
		 * @param from the index of its first byte
		 * @param to the index after its last byte
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
