package io.pipeset.tuning;

import java.time.Duration;
import java.util.function.LongSupplier;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;

/**
 * The records that remove the keys of a tuning. None comes any more after a while, as a
 * tuning that was stopped is waited for.
 */
final class KeyRemoval implements RecordReader {

	private static final Duration MOST = Duration.ofSeconds(10);

	/** Between looks at the clock. */
	private static final int RECORDS_OF_A_LOOK = 10_000;

	private final TuningKeys keys;

	private final LongSupplier clock;

	private final long end;

	private int next;

	KeyRemoval(TuningKeys keys, LongSupplier clock) {
		this.keys = keys;
		this.clock = clock;
		this.end = clock.getAsLong() + MOST.toNanos();
	}

	@Override
	public boolean read(Record record) {
		boolean late = this.next % RECORDS_OF_A_LOOK == 0 && this.end - this.clock.getAsLong() <= 0;
		if (late || this.next == this.keys.count()) {
			return false;
		}
		byte[] key = this.keys.key(this.next++);
		record.begin(0);
		record.operation(Operation.UNLINK);
		record.argument(key, 0, key.length);
		record.check();
		return true;
	}

}
