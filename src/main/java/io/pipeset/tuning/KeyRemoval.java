package io.pipeset.tuning;

import java.util.BitSet;
import java.util.function.LongSupplier;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;

/**
 * The records that remove the keys of a tuning. None comes any more after a while, as a
 * tuning that was stopped is waited for.
 */
final class KeyRemoval implements RecordReader {

	/** Between looks at the clock. */
	private static final int RECORDS_OF_A_LOOK = 10_000;

	private final TuningKeys keys;

	private final BitSet numbers;

	private final LongSupplier clock;

	private final long end;

	private int next;

	private int read;

	/**
	 * Records that remove some of the keys.
	 * @param numbers the numbers of the keys
	 * @param end the time of the clock after which no further record comes
	 */
	KeyRemoval(TuningKeys keys, BitSet numbers, LongSupplier clock, long end) {
		this.keys = keys;
		this.numbers = numbers;
		this.clock = clock;
		this.end = end;
	}

	@Override
	public boolean read(Record record) {
		boolean late = this.read++ % RECORDS_OF_A_LOOK == 0 && this.end - this.clock.getAsLong() <= 0;
		int number = this.numbers.nextSetBit(this.next);
		if (late || number < 0) {
			return false;
		}
		this.next = number + 1;
		byte[] key = this.keys.key(number);
		record.begin(0);
		record.operation(Operation.UNLINK);
		record.argument(key, 0, key.length);
		record.check();
		return true;
	}

}
