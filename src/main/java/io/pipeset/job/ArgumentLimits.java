package io.pipeset.job;

import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import org.jspecify.annotations.Nullable;

/** How large the keys and the other arguments of a record may be. */
final class ArgumentLimits {

	private final long maxKeyBytes;

	private final long maxValueBytes;

	ArgumentLimits(JobLimits limits) {
		this.maxKeyBytes = limits.maxKeyBytes().toBytes();
		this.maxValueBytes = limits.maxValueBytes().toBytes();
	}

	/**
	 * Holds a good record against the limits.
	 * @return why it is refused, or {@code null}
	 */
	@Nullable Rejection refuse(Record record) {
		int arguments = record.argumentCount();
		int firstKey = record.operation().firstKey();
		int behindKeys = firstKey + record.keyCount();
		for (int i = 0; i < arguments; i++) {
			boolean key = i >= firstKey && i < behindKeys;
			long most = (key) ? this.maxKeyBytes : this.maxValueBytes;
			if (record.length(i) > most) {
				return new Rejection(Rejection.TOO_LARGE,
						((key) ? "a key" : "an argument") + " of the record has " + record.length(i)
								+ " bytes; pipeset.limits." + ((key) ? "max-key-bytes" : "max-value-bytes") + " allows "
								+ most);
			}
		}
		return null;
	}

	/** A record's first key, where it has one that a report may carry. */
	@Nullable String listableKey(Record record) {
		int first = (record.hasOperation()) ? record.operation().firstKey() : 0;
		return (first < record.argumentCount() && record.length(first) <= this.maxKeyBytes) ? record.key() : null;
	}

}
