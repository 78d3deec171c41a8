package io.pipeset.tuning;

import java.nio.charset.StandardCharsets;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;

/**
 * The records that reset the hashes or lists of a tuning and set their expiry. Each key
 * has three records, which must run in one transaction: then no key is ever without an
 * expiry.
 */
final class PreparedKeys implements RecordReader {

	/** The records of a transaction: those of 100 keys. */
	static final int BATCH_SIZE = 300;

	private static final int RECORDS_PER_KEY = 3;

	private static final byte[] SECONDS = String.valueOf(TuningKeys.TTL.toSeconds())
		.getBytes(StandardCharsets.US_ASCII);

	private static final byte[] PLACEHOLDER = { 'v' };

	private final TuningKeys keys;

	private int next;

	PreparedKeys(TuningKeys keys) {
		this.keys = keys;
	}

	/** The number of records. */
	long count() {
		return (long) this.keys.count() * RECORDS_PER_KEY;
	}

	@Override
	public boolean read(Record record) {
		if (this.next == count()) {
			return false;
		}
		byte[] key = this.keys.key(this.next / RECORDS_PER_KEY);
		record.begin(0);
		switch (this.next % RECORDS_PER_KEY) {
			case 0 -> {
				record.operation(Operation.UNLINK);
				record.argument(key, 0, key.length);
			}
			case 1 -> {
				record.operation(this.keys.operation());
				record.argument(key, 0, key.length);
				record.argument(PLACEHOLDER, 0, PLACEHOLDER.length);
				if (this.keys.operation() == Operation.HSET) {
					record.argument(PLACEHOLDER, 0, PLACEHOLDER.length);
				}
			}
			default -> {
				record.operation(Operation.EXPIRE);
				record.argument(key, 0, key.length);
				record.argument(SECONDS, 0, SECONDS.length);
			}
		}
		record.check();
		this.next++;
		return true;
	}

}
