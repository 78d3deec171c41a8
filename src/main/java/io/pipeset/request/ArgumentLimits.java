package io.pipeset.request;

import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import org.jspecify.annotations.Nullable;

/**
 * Checks the sizes of a record's keys and other arguments, and whether the client may use
 * its keys.
 */
public final class ArgumentLimits {

	private final long maxKeyBytes;

	private final long maxValueBytes;

	private final Client client;

	public ArgumentLimits(JobLimits limits, Client client) {
		this.client = client;
		this.maxKeyBytes = limits.maxKeyBytes().toBytes();
		this.maxValueBytes = limits.maxValueBytes().toBytes();
	}

	/**
	 * Checks a record that its reader has not rejected.
	 * @return why the record is refused; {@code null} if it is within the limits
	 */
	public @Nullable Rejection refuse(Record record) {
		int arguments = record.argumentCount();
		int keys = record.keyCount();
		for (int i = 0; i < arguments; i++) {
			boolean key = record.command().isKey(i, keys);
			long max = (key) ? this.maxKeyBytes : this.maxValueBytes;
			if (record.length(i) > max) {
				return new Rejection(Rejection.TOO_LARGE,
						((key) ? "a key" : "an argument") + " of the record has " + record.length(i)
								+ " bytes; pipeset.limits." + ((key) ? "max-key-bytes" : "max-value-bytes") + " allows "
								+ max);
			}
			Rejection refused = (key) ? this.client.refuseKey(record.source(i), record.offset(i), record.length(i))
					: null;
			if (refused != null) {
				return refused;
			}
		}
		return null;
	}

	/** Whether a record has a key, and its first key is short enough for a report. */
	public boolean isKeyListable(Record record) {
		int first = (record.hasOperation()) ? record.command().firstKey() : 0;
		return first < record.argumentCount() && record.length(first) <= this.maxKeyBytes;
	}

}
