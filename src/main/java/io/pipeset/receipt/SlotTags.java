package io.pipeset.receipt;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.pipeset.record.Slots;

/**
 * A short hash tag for each slot of a cluster: a key with the tag is in that slot. The
 * tags must never change, because stored receipts are found by them.
 */
final class SlotTags {

	private static final int RADIX = Character.MAX_RADIX;

	private SlotTags() {
	}

	/**
	 * The hash tag of a slot.
	 * @return one to four digits and lower-case letters
	 */
	static String of(int slot) {
		return Integer.toString(Table.NUMBERS[slot], RADIX);
	}

	/** The tag of each slot as a number; computed when the first tag is needed. */
	private static final class Table {

		private static final int[] NUMBERS = numbers();

		/** Counts up until each slot has a number, the smallest that hashes to it. */
		private static int[] numbers() {
			int[] numbers = new int[Slots.COUNT];
			Arrays.fill(numbers, -1);
			int missing = Slots.COUNT;
			for (int number = 0; missing > 0; number++) {
				byte[] tag = Integer.toString(number, RADIX).getBytes(StandardCharsets.US_ASCII);
				int slot = Slots.of(tag, 0, tag.length);
				if (numbers[slot] < 0) {
					numbers[slot] = number;
					missing--;
				}
			}
			return numbers;
		}

	}

}
