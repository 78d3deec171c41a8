package io.pipeset.sweep;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

import io.pipeset.pipeline.call.KeyFilter;
import io.pipeset.record.Operation;
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

	private volatile int restarts;

	private volatile @Nullable Integer repeatedSlots;

	/**
	 * A sweep that has not begun.
	 * @param filter the keys that it is for
	 * @param limit how many keys it takes at most; {@code null} for all
	 * @param operation one of {@link #OPERATIONS}
	 * @param ttl the seconds for EXPIRE; {@code null} for the others
	 */
	public Sweep(KeyFilter filter, @Nullable Long limit, Operation operation, @Nullable Long ttl) {
		this.filter = filter;
		this.limit = limit;
		this.operation = operation;
		this.ttl = ttl;
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

	@Nullable Long ttl() {
		return this.ttl;
	}

	/**
	 * How often the sweep began again with the first key, because Redis was restarted.
	 * @return the number so far
	 */
	public int restarts() {
		return this.restarts;
	}

	/** The sweep begins again. One thread alone calls this. */
	void restarted() {
		int before = this.restarts;
		this.restarts = before + 1;
	}

	/**
	 * How many slots of a cluster were scanned again, since they or others of their
	 * master had moved, or their master was replaced.
	 * @return the number; {@code null} before the cluster is scanned, and for one server
	 */
	public @Nullable Integer repeatedSlots() {
		return this.repeatedSlots;
	}

	/** All masters are scanned once, and some slots are scanned again. */
	void repeats(int slots) {
		this.repeatedSlots = slots;
	}

	/**
	 * Adds the settings that only a sweep has.
	 * @param report the settings in the job's report
	 */
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
	}

}
