package io.pipeset.input;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.pipeset.engine.pipeline.call.KeyFilter;
import io.pipeset.record.KeyPrefixes;
import io.pipeset.record.Operation;
import io.pipeset.record.ReservedKeys;
import io.pipeset.report.JobReport.Scan;
import org.jspecify.annotations.Nullable;

/** One sweep: its filter of keys, its operation, and its restarts. */
public final class Sweep {

	/** The operations with a key alone, or a key and a time to live. */
	public static final List<Operation> OPERATIONS = List.of(Operation.DEL, Operation.UNLINK, Operation.EXPIRE,
			Operation.PERSIST);

	private final KeyFilter filter;

	private final @Nullable Long limit;

	private final Operation operation;

	private final @Nullable Long ttl;

	private final List<String> options;

	private final KeyPrefixes allowed;

	/** The keys to take of those that are allowed. */
	private final Predicate<byte[]> wanted;

	private volatile int restarts;

	private volatile @Nullable Integer repeatedSlots;

	/**
	 * A sweep that has not begun.
	 * @param limit the most keys to take; {@code null} for all
	 * @param operation one of {@link #OPERATIONS}
	 * @param ttl the seconds of EXPIRE; {@code null} for other operations
	 * @param options the options of EXPIRE, such as NX
	 * @param allowed the keys that it may take; other keys are skipped
	 */
	public Sweep(KeyFilter filter, @Nullable Long limit, Operation operation, @Nullable Long ttl, List<String> options,
			KeyPrefixes allowed) {
		this(filter, limit, operation, ttl, options, allowed, (key) -> true);
	}

	private Sweep(KeyFilter filter, @Nullable Long limit, Operation operation, @Nullable Long ttl, List<String> options,
			KeyPrefixes allowed, Predicate<byte[]> wanted) {
		this.wanted = wanted;
		this.allowed = allowed;
		this.filter = filter;
		this.limit = limit;
		this.operation = operation;
		this.ttl = ttl;
		this.options = options;
	}

	/**
	 * A sweep of UNLINK for a part of the keys.
	 * @param allowed the keys that it may take; other keys are skipped
	 * @param wanted the keys to take of these; the reading thread calls it for each key
	 * that SCAN finds
	 */
	public static Sweep removing(KeyFilter filter, KeyPrefixes allowed, Predicate<byte[]> wanted) {
		return new Sweep(filter, null, Operation.UNLINK, null, List.of(), allowed, wanted);
	}

	/** Whether the sweep takes a key that it {@link #allows}. */
	boolean wants(byte[] key) {
		return this.wanted.test(key);
	}

	/** Whether the sweep may take a key. */
	boolean allows(byte[] key) {
		return !ReservedKeys.contains(key, 0, key.length) && this.allowed.contain(key, 0, key.length);
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
	 * Whether a reply of 0 means that the key was not changed. Operations that remove
	 * keys may remove several in one command.
	 */
	boolean countsReplies() {
		return this.operation == Operation.EXPIRE || this.operation == Operation.PERSIST;
	}

	@Nullable Long ttl() {
		return this.ttl;
	}

	List<String> options() {
		return this.options;
	}

	/** Counts a restart of the scan. Called by one thread only. */
	void countRestart() {
		int before = this.restarts;
		this.restarts = before + 1;
	}

	/** Sets how many slots are scanned again; {@code null} during the first pass. */
	void setRepeatedSlots(@Nullable Integer slots) {
		this.repeatedSlots = slots;
	}

	/** The restarts and the repeated slots so far. */
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
