package io.pipeset.job.pop;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.pipeset.record.Slots;

/**
 * A short hash tag for each slot of a cluster. A key with a slot's tag is in that slot,
 * whatever the bytes of other keys there are. The tags never change, as receipts are
 * found by them.
 */
final class SlotTags {

	private static final int RADIX = Character.MAX_RADIX;

	private SlotTags() {
	}

	/**
	 * The tag of a slot.
	 * @return one to four digits and small letters
	 */
	static String of(int slot) {
		return Integer.toString(Table.NUMBERS[slot], RADIX);
	}

	/** The tag of each slot as a number, made when the first one is asked for. */
	private static final class Table {

		private static final int[] NUMBERS = numbers();

		/** Counts up until every slot has the first number that is in it. */
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
