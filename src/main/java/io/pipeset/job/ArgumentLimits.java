package io.pipeset.job;

import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import org.jspecify.annotations.Nullable;

/**
 * The limits on the size of keys and other arguments of a record, and the keys that are
 * not for callers.
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
	 * Holds a good record against the limits.
	 * @return why it is refused, or {@code null}
	 */
	public @Nullable Rejection refuse(Record record) {
		int arguments = record.argumentCount();
		int firstKey = record.command().firstKey();
		int step = record.command().keyStep();
		int behindKeys = firstKey + record.keyCount() * step;
		for (int i = 0; i < arguments; i++) {
			boolean key = i >= firstKey && i < behindKeys && (i - firstKey) % step == 0;
			long most = (key) ? this.maxKeyBytes : this.maxValueBytes;
			if (record.length(i) > most) {
				return new Rejection(Rejection.TOO_LARGE,
						((key) ? "a key" : "an argument") + " of the record has " + record.length(i)
								+ " bytes; pipeset.limits." + ((key) ? "max-key-bytes" : "max-value-bytes") + " allows "
								+ most);
			}
			Rejection refused = (key) ? this.client.refuseKey(record.source(i), record.offset(i), record.length(i))
					: null;
			if (refused != null) {
				return refused;
			}
		}
		return null;
	}

	/** Whether a record has a first key, and a report may carry it. */
	public boolean isKeyListable(Record record) {
		int first = (record.hasOperation()) ? record.command().firstKey() : 0;
		return first < record.argumentCount() && record.length(first) <= this.maxKeyBytes;
	}

}
