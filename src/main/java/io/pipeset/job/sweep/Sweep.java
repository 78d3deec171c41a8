package io.pipeset.job.sweep;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.pipeset.engine.pipeline.call.KeyFilter;
import io.pipeset.record.KeyPrefixes;
import io.pipeset.record.Operation;
import io.pipeset.record.ReservedKeys;
import io.pipeset.report.JobReport.Scan;
import org.jspecify.annotations.Nullable;

/**
 * One sweep: the keys that it is for, the operation to run on each of them, and how often
 * it had to begin again.
 */
public final class Sweep {

	/** The operations that need no more than a key, or a key and a time to live. */
	public static final Set<Operation> OPERATIONS = EnumSet.of(Operation.UNLINK, Operation.DEL, Operation.PERSIST,
			Operation.EXPIRE);

	private final KeyFilter filter;

	private final @Nullable Long limit;

	private final Operation operation;

	private final @Nullable Long ttl;

	private final List<String> options;

	private final KeyPrefixes permitted;

	private volatile int restarts;

	private volatile @Nullable Integer repeatedSlots;

	/**
	 * A sweep that has not begun.
	 * @param limit how many keys it takes at most; {@code null} for all
	 * @param operation one of {@link #OPERATIONS}
	 * @param ttl the seconds for EXPIRE; {@code null} for the others
	 * @param options what stands behind these seconds, such as NX
	 * @param permitted the keys that it may take; it passes over all others
	 */
	public Sweep(KeyFilter filter, @Nullable Long limit, Operation operation, @Nullable Long ttl, List<String> options,
			KeyPrefixes permitted) {
		this.permitted = permitted;
		this.filter = filter;
		this.limit = limit;
		this.operation = operation;
		this.ttl = ttl;
		this.options = options;
	}

	/** Whether a key may be a record. */
	boolean permits(byte[] key) {
		return !ReservedKeys.contains(key, 0, key.length) && this.permitted.contain(key, 0, key.length);
	}

	KeyFilter filter() {
		return this.filter;
	}

	@Nullable Long limit() {
		return this.limit;
	}

	Operation operation() {
		return this.operation;
	}

	/**
	 * Whether a reply of 0 says that a key was left alone. The others remove a key, and
	 * may do so several at once.
	 */
	boolean tellsByReply() {
		return this.operation == Operation.EXPIRE || this.operation == Operation.PERSIST;
	}

	@Nullable Long ttl() {
		return this.ttl;
	}

	List<String> options() {
		return this.options;
	}

	/** The sweep begins again. One thread alone calls this. */
	void restarted() {
		int before = this.restarts;
		this.restarts = before + 1;
	}

	/**
	 * So many slots are scanned again; {@code null} before all masters are scanned once.
	 */
	void repeats(@Nullable Integer slots) {
		this.repeatedSlots = slots;
	}

	/** How the keys were found, so far. */
	public Scan scan() {
		return new Scan(this.restarts, this.repeatedSlots);
	}

	/** Adds the settings that only a sweep has. */
	public void addTo(Map<String, Object> report) {
		report.put("from", "scan");
		report.put("match", this.filter.match());
		String type = this.filter.type();
		if (type != null) {
			report.put("type", type);
		}
		if (this.limit != null) {
			report.put("limit", this.limit);
		}
		if (!this.options.isEmpty()) {
			report.put("args", this.options);
		}
	}

}
