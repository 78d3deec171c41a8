package io.pipeset.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

import io.pipeset.report.JobReport.Replaced;
import io.pipeset.report.JobReport.Sent;
import org.jspecify.annotations.Nullable;

/**
 * The account of a job's records while the job runs, in bounded memory. It has a count
 * for each operation and outcome, and the items to list. The reading thread and all lanes
 * add outcomes to it, one slab at a time.
 */
public final class Account {

	/** The operation name of a record that failed before its operation was known. */
	public static final String NO_OPERATION = "none";

	/** The memory of an item in bytes, without its reply. */
	private static final int ITEM_BYTES = 400;

	private final Results results;

	private final int maxItems;

	private final long maxItemsBytes;

	private final LongPredicate reserveMemory;

	private final PopAccount taken;

	private final Map<String, Map<Outcome, Long>> counts = new TreeMap<>();

	private final Map<Outcome, Long> totals = new EnumMap<>(Outcome.class);

	private final List<Item> items = new ArrayList<>();

	/** The counts that the meters already include. */
	private final Map<String, Map<Outcome, Long>> metered = new TreeMap<>();

	private long meteredCommands;

	private boolean dryRun;

	private boolean endsWhenEmpty;

	/** Volatile because the reading thread checks it for each record. */
	private volatile boolean emptyReplySeen;

	private boolean mayListEmpty;

	private long unknownEarlier;

	private long skippedNoops;

	private int listedItems;

	private long listedBytes;

	private long replied;

	private long commandsSent;

	private long bytesSent;

	private long writes;

	private final Losses losses;

	private final ErrorCodes errorCodes = new ErrorCodes();

	private boolean runInPart;

	private @Nullable String transactionRefusal;

	private @Nullable OutcomeLog log;

	private volatile @Nullable Supplier<Replaced> replaced;

	private volatile boolean replacing;

	private volatile @Nullable Supplier<Verified> verified;

	/**
	 * Opens an account that lists items of any size.
	 * @param results which records to list
	 * @param maxItems how many to list at most
	 * @param valuesApart whether popped values are in a list of their own and not in
	 * items
	 */
	public Account(Results results, int maxItems, boolean valuesApart) {
		this(results, maxItems, Long.MAX_VALUE, valuesApart, (bytes) -> true);
	}

	/**
	 * Opens an account.
	 * @param results which records to list
	 * @param maxItems how many to list at most; items with popped values are listed in
	 * any case
	 * @param maxItemsBytes the most bytes of replies in listed items; popped values do
	 * not count
	 * @param valuesApart whether popped values are in a list of their own and not in
	 * items
	 * @param reserveMemory reserves the memory of an item, in bytes; {@code false} if
	 * there is none
	 */
	public Account(Results results, int maxItems, long maxItemsBytes, boolean valuesApart,
			LongPredicate reserveMemory) {
		this(results, maxItems, maxItemsBytes, valuesApart, reserveMemory, new Losses());
	}

	private Account(Results results, int maxItems, long maxItemsBytes, boolean valuesApart, LongPredicate reserveMemory,
			Losses losses) {
		this.losses = losses;
		this.results = results;
		this.maxItems = maxItems;
		this.maxItemsBytes = maxItemsBytes;
		this.taken = new PopAccount(valuesApart);
		this.reserveMemory = reserveMemory;
	}

	/**
	 * An account of further commands of the same job, which are no records. It shares the
	 * losses, and lists the first failure.
	 */
	public Account ofOtherCommands() {
		Account account = new Account(Results.ERRORS, 1, Long.MAX_VALUE, false, (bytes) -> true, this.losses);
		account.log = (this.log != null) ? this.log.ofConnections() : null;
		return account;
	}

	/**
	 * Notes that the job has begun to remove the keys that it did not write.
	 * @param replaced returns the keys kept and removed so far; any thread may call it at
	 * any time, and after the end of the job
	 */
	public void beginReplacing(Supplier<Replaced> replaced) {
		this.replacing = true;
		this.replaced = replaced;
	}

	/** Notes that no more keys are removed. */
	public void endReplacing() {
		this.replacing = false;
	}

	/**
	 * Marks the job as one that only compares its records. Then an unprocessed record is
	 * an error if it differs.
	 * @param verified returns the records so far; any thread may call it at any time
	 */
	public synchronized void setVerified(Supplier<Verified> verified) {
		this.verified = verified;
		setDryRun();
	}

	/** How the records compare; {@code null} for a job that does not compare them. */
	public @Nullable Verified verified() {
		Supplier<Verified> source = this.verified;
		return (source != null) ? source.get() : null;
	}

	/** Whether keys are being removed now. */
	public boolean isReplacing() {
		return this.replacing;
	}

	/** The keys kept and removed so far; {@code null} if none were looked for. */
	public @Nullable Replaced replaced() {
		Supplier<Replaced> source = this.replaced;
		return (source != null) ? source.get() : null;
	}

	/** Sets the log of each record's outcome. Call this before the first outcome. */
	public void setLog(OutcomeLog log) {
		this.log = log;
	}

	/** The log of each record's outcome; {@code null} for none. */
	public @Nullable OutcomeLog log() {
		return this.log;
	}

	/** Marks the job as a dry run, in which an unprocessed record is not an error. */
	public synchronized void setDryRun() {
		this.dryRun = true;
	}

	/**
	 * Marks the job as one that ends at the first empty reply. The record with that reply
	 * is its only noop. Later noops are not counted.
	 */
	public synchronized void endsWhenEmpty() {
		this.endsWhenEmpty = true;
		this.mayListEmpty = true;
	}

	/**
	 * Whether a job that ends at the first empty reply has received it.
	 * @return {@code false} for other jobs
	 */
	public boolean isEmpty() {
		return this.emptyReplySeen;
	}

	/** How many noops were not counted because they came after the first empty reply. */
	public synchronized long skippedNoops() {
		return this.skippedNoops;
	}

	/** Counts records, without listing them. */
	public synchronized void count(String operation, Outcome outcome, long records) {
		long counted = (this.endsWhenEmpty) ? countUntilEmpty(outcome, records) : records;
		if (counted != 0) {
			this.counts.computeIfAbsent(operation, (name) -> new EnumMap<>(Outcome.class))
				.merge(outcome, counted, Long::sum);
			this.totals.merge(outcome, counted, Long::sum);
		}
	}

	/** Counts records whose outcome is from an earlier run of the job. */
	public synchronized void countEarlier(String operation, Outcome outcome, long records) {
		count(operation, outcome, records);
		this.unknownEarlier += (outcome == Outcome.UNKNOWN) ? records : 0;
		this.metered.computeIfAbsent(operation, (name) -> new EnumMap<>(Outcome.class))
			.merge(outcome, records, Long::sum);
	}

	/**
	 * Counts records as unprocessed that have run, because Redis has lost them since.
	 * @param code the error code of each
	 */
	public synchronized void lose(long records, String code) {
		long left = records;
		for (Map.Entry<String, Map<Outcome, Long>> operation : this.counts.entrySet()) {
			for (Outcome ran : List.of(Outcome.APPLIED, Outcome.NOOP)) {
				long lost = Math.min(left, operation.getValue().getOrDefault(ran, 0L));
				if (lost > 0) {
					// The meters have counted that it ran.
					countEarlier(operation.getKey(), Outcome.UNPROCESSED, lost);
					countEarlier(operation.getKey(), ran, -lost);
					left -= lost;
				}
			}
		}
		this.errorCodes.add(code, records - left);
	}

	/** How many of the unknown records are from an earlier run of the job. */
	public synchronized long unknownEarlier() {
		return this.unknownEarlier;
	}

	private long countUntilEmpty(Outcome outcome, long records) {
		if (outcome != Outcome.NOOP || records == 0) {
			return records;
		}
		long counted = (this.emptyReplySeen) ? 0 : 1;
		this.emptyReplySeen = true;
		this.skippedNoops += records - counted;
		return counted;
	}

	/**
	 * Claims an item for a record of this outcome, if the report has space for it.
	 * @param bytes the size of the reply
	 * @return {@code false} if the caller did not request such items, or a limit is
	 * reached; the report then says how many records it omits
	 */
	public synchronized boolean claimItem(Outcome outcome, long bytes) {
		if (this.endsWhenEmpty && outcome == Outcome.NOOP) {
			if (!this.mayListEmpty) {
				return false;
			}
			this.mayListEmpty = false;
		}
		if (!lists(outcome) || this.listedItems == this.maxItems || bytes > this.maxItemsBytes - this.listedBytes
				|| !this.reserveMemory.test(ITEM_BYTES + bytes)) {
			return false;
		}
		this.listedItems++;
		this.listedBytes += bytes;
		return true;
	}

	/**
	 * Claims an item for a record that ran, but not with all that it asked for.
	 * @param bytes the size of the reply
	 * @return {@code false} if the caller wants no items, or a limit is reached
	 */
	public synchronized boolean claimNotable(long bytes) {
		boolean claimed = this.results != Results.NONE && this.listedItems < this.maxItems
				&& bytes <= this.maxItemsBytes - this.listedBytes && this.reserveMemory.test(ITEM_BYTES + bytes);
		this.listedItems += (claimed) ? 1 : 0;
		this.listedBytes += (claimed) ? bytes : 0;
		return claimed;
	}

	/**
	 * Lists a record.
	 * @param item the record; it must be {@link #claimItem claimed} before, unless it has
	 * popped values
	 */
	public synchronized void list(Item item) {
		this.items.add(item);
	}

	/**
	 * Adds one write and its commands and replies.
	 * @param commands the data commands, each with one record or several
	 * @param bytes the bytes written
	 * @param replies the records whose replies were read
	 */
	public synchronized void sent(long commands, long bytes, long replies) {
		this.commandsSent += commands;
		this.bytesSent += bytes;
		this.writes += (bytes > 0) ? 1 : 0;
		this.replied += replies;
	}

	/** The connection losses and failovers that affected the job. */
	public Losses losses() {
		return this.losses;
	}

	/**
	 * The error codes of all failed records. {@link #count} does not add to them.
	 */
	public ErrorCodes errorCodes() {
		return this.errorCodes;
	}

	/** Notes that a record counted as rejected has run in part. */
	public synchronized void markRunInPart() {
		this.runInPart = true;
	}

	/** Whether a rejected record has run in part. */
	public synchronized boolean hasRunInPart() {
		return this.runInPart;
	}

	/**
	 * Notes that Redis refused a transaction.
	 * @param refusal the error, and what happened to the commands
	 */
	public synchronized void setTransactionRefusal(String refusal) {
		this.transactionRefusal = refusal;
	}

	/**
	 * The refusal of a transaction.
	 * @return a text for the caller; {@code null} if no transaction was refused
	 */
	public synchronized @Nullable String transactionRefusal() {
		return this.transactionRefusal;
	}

	/**
	 * Whether the report needs every reply in full, and not only its outcome.
	 * @return {@code false} also if the list is full
	 */
	public synchronized boolean wantsReplies() {
		return this.results == Results.ALL && this.listedItems < this.maxItems && this.listedBytes < this.maxItemsBytes;
	}

	/**
	 * Whether the report needs popped values.
	 * @return {@code false} with {@code results=none}, unless they are in a list of their
	 * own
	 */
	public boolean wantsValues() {
		return this.results != Results.NONE || this.taken.areSeparate();
	}

	/** The records of an outcome so far. */
	public synchronized long total(Outcome outcome) {
		return this.totals.getOrDefault(outcome, 0L);
	}

	public synchronized Counts counts() {
		long received = 0;
		for (long records : this.totals.values()) {
			received += records;
		}
		return new Counts(received, total(Outcome.APPLIED), total(Outcome.NOOP), total(Outcome.REJECTED),
				total(Outcome.UNKNOWN), total(Outcome.UNPROCESSED));
	}

	/** The counts so far by operation and outcome. */
	public synchronized Map<String, Map<Outcome, Long>> countsByOperation() {
		Map<String, Map<Outcome, Long>> copy = new TreeMap<>();
		this.counts.forEach((operation, byOutcome) -> copy.put(operation, Map.copyOf(byOutcome)));
		return copy;
	}

	/**
	 * Returns the outcomes and commands that were added since the previous call, for
	 * counters.
	 * @return the outcomes by operation; each record is in exactly one result
	 */
	synchronized Delta nextDelta() {
		Map<String, Map<Outcome, Long>> grown = new TreeMap<>();
		this.counts.forEach((operation, outcomes) -> outcomes.forEach((outcome, records) -> {
			Long before = this.metered.computeIfAbsent(operation, (name) -> new EnumMap<>(Outcome.class))
				.put(outcome, records);
			grown.computeIfAbsent(operation, (name) -> new EnumMap<>(Outcome.class))
				.put(outcome, records - ((before != null) ? before : 0));
		}));
		Delta delta = new Delta(grown, this.commandsSent - this.meteredCommands);
		this.meteredCommands = this.commandsSent;
		return delta;
	}

	/**
	 * The operation of all records so far.
	 * @return its name; {@code mixed} for several operations, {@code none} without
	 * records
	 */
	public synchronized String operation() {
		return (this.counts.size() > 1) ? "mixed" : this.counts.keySet().stream().findFirst().orElse(NO_OPERATION);
	}

	/**
	 * The listed records.
	 * @return a snapshot in the order of the records
	 */
	public synchronized List<Item> items() {
		return this.items.stream().sorted(Comparator.comparingLong(Item::index)).toList();
	}

	/** How many requested items are not listed. */
	public long itemsOmitted() {
		Verified compared = verified();
		return itemsOmitted((compared != null && this.results != Results.NONE)
				? compared.errors(counts()) - total(Outcome.REJECTED) : 0);
	}

	private synchronized long itemsOmitted(long differing) {
		long omitted = differing;
		for (Outcome outcome : Outcome.values()) {
			omitted += (lists(outcome)) ? total(outcome) : 0;
		}
		for (Item item : this.items) {
			omitted -= (lists(item.status()) || item.error() != null) ? 1 : 0;
		}
		return omitted;
	}

	private boolean lists(Outcome outcome) {
		return (this.results == Results.ALL && this.verified == null)
				|| (this.results.lists(outcome) && !(this.dryRun && outcome == Outcome.UNPROCESSED));
	}

	/**
	 * The popped values.
	 * @return the values in their order; {@code null} if the items have them
	 */
	public @Nullable List<Object> values() {
		return this.taken.list();
	}

	/** The account of the popped values. */
	public PopAccount taken() {
		return this.taken;
	}

	/**
	 * The commands and bytes written so far, retries included.
	 * @param millis the time since the start of the job
	 */
	public synchronized Sent sent(double millis) {
		return new Sent(Math.round(this.replied * 1000 / Math.max(millis, 0.001)), this.commandsSent, this.bytesSent,
				this.writes);
	}

	/**
	 * How many data commands were written, retries included.
	 * @return the count; fewer than the records if commands were coalesced
	 */
	public synchronized long commandsSent() {
		return this.commandsSent;
	}

	/**
	 * The bytes written to Redis.
	 * @return bytes of RESP
	 */
	public synchronized long bytesSent() {
		return this.bytesSent;
	}

	/** The change of an account since an earlier call. */
	record Delta(Map<String, Map<Outcome, Long>> records, long commandsSent) {

	}

}
