package io.pipeset.tuning;

import java.nio.charset.StandardCharsets;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;

/**
 * Records that empty the hashes or lists of a tuning, and let each expire. Three records
 * a key, which belong into one transaction: no key is ever without an expiry.
 */
final class PreparedKeys implements RecordReader {

	/** The records of a transaction: those of a hundred keys. */
	static final int BATCH_SIZE = 300;

	private static final int RECORDS_OF_A_KEY = 3;

	private static final byte[] SECONDS = String.valueOf(TuningKeys.TTL.toSeconds())
		.getBytes(StandardCharsets.US_ASCII);

	private static final byte[] SHORT = { 'v' };

	private final TuningKeys keys;

	private int next;

	PreparedKeys(TuningKeys keys) {
		this.keys = keys;
	}

	/** How many records there are. */
	long count() {
		return (long) this.keys.count() * RECORDS_OF_A_KEY;
	}

	@Override
	public boolean read(Record record) {
		if (this.next == count()) {
			return false;
		}
		byte[] key = this.keys.key(this.next / RECORDS_OF_A_KEY);
		record.begin(0);
		switch (this.next % RECORDS_OF_A_KEY) {
			case 0 -> {
				record.operation(Operation.UNLINK);
				record.argument(key, 0, key.length);
			}
			case 1 -> {
				record.operation(this.keys.operation());
				record.argument(key, 0, key.length);
				record.argument(SHORT, 0, SHORT.length);
				if (this.keys.operation() == Operation.HSET) {
					record.argument(SHORT, 0, SHORT.length);
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
