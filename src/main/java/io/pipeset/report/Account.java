package io.pipeset.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongPredicate;

import io.pipeset.report.JobReport.Sent;
import org.jspecify.annotations.Nullable;

/**
 * The account of a job's records while it runs, in bounded memory: a count for each
 * operation and outcome, and the items to list. The reading thread and every lane enter
 * outcomes into it, a slab at a time.
 */
public final class Account {

	/** The operation of a record that did not get as far as naming one. */
	public static final String NO_OPERATION = "none";

	/** The memory of an item, beside its strings. */
	private static final int ITEM_BYTES = 400;

	private final Results results;

	private final int maxItems;

	private final long maxItemsBytes;

	private final LongPredicate memory;

	private final TakenValues taken;

	private final Map<String, Map<Outcome, Long>> counts = new TreeMap<>();

	private final Map<Outcome, Long> totals = new EnumMap<>(Outcome.class);

	private final List<Item> items = new ArrayList<>();

	/** The part of the counts that meters have. */
	private final Map<String, Map<Outcome, Long>> metered = new TreeMap<>();

	private long meteredCommands;

	private boolean dryRun;

	private boolean endsWhenEmpty;

	/** Asked for each record, by the thread that reads. */
	private volatile boolean empty;

	private boolean listsEmpty;

	private long unknownEarlier;

	private long leftOut;

	private int listed;

	private long listedBytes;

	private long replied;

	private long commandsSent;

	private long bytesSent;

	private long writes;

	private final Losses losses = new Losses();

	private final ErrorCodes errorCodes = new ErrorCodes();

	private boolean ranInPart;

	private @Nullable String transactionRefusal;

	private @Nullable OutcomeLog log;

	/**
	 * Opens an account that lists items of any size.
	 * @param valuesApart whether values taken out of Redis stand in a list of their own
	 */
	public Account(Results results, int maxItems, boolean valuesApart) {
		this(results, maxItems, Long.MAX_VALUE, valuesApart, (bytes) -> true);
	}

	/**
	 * Opens an account.
	 * @param maxItems how many to list at most; replies that carry values taken out of
	 * Redis are listed beyond it
	 * @param maxItemsBytes the size of what Redis answered to those, at most; values
	 * taken out of Redis do not count
	 * @param valuesApart whether such values stand in a list of their own and not in
	 * items
	 * @param memory takes the memory of an item, in bytes, or says that there is none
	 */
	public Account(Results results, int maxItems, long maxItemsBytes, boolean valuesApart, LongPredicate memory) {
		this.results = results;
		this.maxItems = maxItems;
		this.maxItemsBytes = maxItemsBytes;
		this.taken = new TakenValues(valuesApart);
		this.memory = memory;
	}

	/** Sets who takes note of the outcome of each record, before the first one. */
	public void logTo(OutcomeLog log) {
		this.log = log;
	}

	/** Who takes note of the outcome of each record; {@code null} for nobody. */
	public @Nullable OutcomeLog log() {
		return this.log;
	}

	/** Says that no record is to be run: a record that was not run is no error. */
	public synchronized void setDryRun() {
		this.dryRun = true;
	}

	/**
	 * Says that the job ends at the first empty answer. Of its records that answer is the
	 * only noop. Those behind it that were asked for in vain are left out.
	 */
	public synchronized void endsWhenEmpty() {
		this.endsWhenEmpty = true;
		this.listsEmpty = true;
	}

	/**
	 * Whether a job that ends at the first empty answer has met it.
	 * @return {@code false} for other jobs
	 */
	public boolean isEmpty() {
		return this.empty;
	}

	/** The records that were read, and are left out because of an empty answer. */
	public synchronized long leftOut() {
		return this.leftOut;
	}

	/** Counts records of which nothing is listed. */
	public synchronized void count(String operation, Outcome outcome, long records) {
		long counted = (this.endsWhenEmpty) ? countUntilEmpty(outcome, records) : records;
		if (counted > 0) {
			this.counts.computeIfAbsent(operation, (name) -> new EnumMap<>(Outcome.class))
				.merge(outcome, counted, Long::sum);
			this.totals.merge(outcome, counted, Long::sum);
		}
	}

	/** Counts records that an earlier run of the job has brought to their outcome. */
	public synchronized void countEarlier(String operation, Outcome outcome, long records) {
		count(operation, outcome, records);
		this.unknownEarlier += (outcome == Outcome.UNKNOWN) ? records : 0;
		this.metered.computeIfAbsent(operation, (name) -> new EnumMap<>(Outcome.class))
			.merge(outcome, records, Long::sum);
	}

	/** How many of the unknown records are so since an earlier run of the job. */
	public synchronized long unknownEarlier() {
		return this.unknownEarlier;
	}

	private long countUntilEmpty(Outcome outcome, long records) {
		if (outcome != Outcome.NOOP || records == 0) {
			return records;
		}
		long counted = (this.empty) ? 0 : 1;
		this.empty = true;
		this.leftOut += records - counted;
		return counted;
	}

	/**
	 * Whether a record of this outcome would still be listed, with what Redis answered.
	 * @param bytes the size of the answer
	 * @return {@code false} if the caller did not ask for it, or no memory is left for
	 * it; the report then says how many records it omits
	 */
	public synchronized boolean claimItem(Outcome outcome, long bytes) {
		if (this.endsWhenEmpty && outcome == Outcome.NOOP) {
			if (!this.listsEmpty) {
				return false;
			}
			this.listsEmpty = false;
		}
		if (!lists(outcome) || this.listed == this.maxItems || bytes > this.maxItemsBytes - this.listedBytes
				|| !this.memory.test(ITEM_BYTES + bytes)) {
			return false;
		}
		this.listed++;
		this.listedBytes += bytes;
		return true;
	}

	/**
	 * Lists a record.
	 * @param item the record, {@link #claimItem claimed} before, or one that carries
	 * values taken out of Redis
	 */
	public synchronized void list(Item item) {
		this.items.add(item);
	}

	/**
	 * Adds one write, its commands, and the replies to them.
	 * @param commands the commands on data, each of one record or several
	 * @param replies the records whose replies were read
	 */
	public synchronized void sent(long commands, long bytes, long replies) {
		this.commandsSent += commands;
		this.bytesSent += bytes;
		this.writes += (bytes > 0) ? 1 : 0;
		this.replied += replies;
	}

	/** The losses of Redis that the job met. */
	public Losses losses() {
		return this.losses;
	}

	/**
	 * The codes of all records that did not run as asked, which {@link #count} does not
	 * know.
	 */
	public ErrorCodes errorCodes() {
		return this.errorCodes;
	}

	/** Takes note that a part of a record ran that counts as rejected. */
	public synchronized void ranInPart() {
		this.ranInPart = true;
	}

	/** Whether a part of a rejected record has run. */
	public synchronized boolean hasRunInPart() {
		return this.ranInPart;
	}

	/**
	 * Takes note that Redis runs no transactions any more.
	 * @param refusal how it refused one, and what became of its commands
	 */
	public synchronized void transactionRefused(String refusal) {
		this.transactionRefusal = refusal;
	}

	/**
	 * How Redis refused a transaction.
	 * @return a text for the caller; {@code null} if it refused none
	 */
	public synchronized @Nullable String transactionRefusal() {
		return this.transactionRefusal;
	}

	/**
	 * Whether every reply is wanted, and not only what tells an outcome.
	 * @return {@code false} also when the list is full already
	 */
	public synchronized boolean wantsReplies() {
		return this.results == Results.ALL && this.listed < this.maxItems && this.listedBytes < this.maxItemsBytes;
	}

	/**
	 * Whether the caller wants the values that records take out of Redis.
	 * @return {@code false} with {@code results=none}, unless they stand in a list of
	 * their own
	 */
	public boolean wantsValues() {
		return this.results != Results.NONE || this.taken.areApart();
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
	 * The outcomes and commands since this was called last, for meters that grow.
	 * @return by the operation's name; every record is in one answer alone
	 */
	synchronized Growth growth() {
		Map<String, Map<Outcome, Long>> grown = new TreeMap<>();
		this.counts.forEach((operation, outcomes) -> outcomes.forEach((outcome, records) -> {
			Long before = this.metered.computeIfAbsent(operation, (name) -> new EnumMap<>(Outcome.class))
				.put(outcome, records);
			grown.computeIfAbsent(operation, (name) -> new EnumMap<>(Outcome.class))
				.put(outcome, records - ((before != null) ? before : 0));
		}));
		Growth growth = new Growth(grown, this.commandsSent - this.meteredCommands);
		this.meteredCommands = this.commandsSent;
		return growth;
	}

	/**
	 * The one operation of all records so far.
	 * @return its name, {@code mixed} for several and {@code none} for none
	 */
	public synchronized String operation() {
		return (this.counts.size() > 1) ? "mixed" : this.counts.keySet().stream().findFirst().orElse(NO_OPERATION);
	}

	/**
	 * The records listed.
	 * @return a snapshot in the order of the records
	 */
	public synchronized List<Item> items() {
		return this.items.stream().sorted(Comparator.comparingLong(Item::index)).toList();
	}

	/** How many records should have been listed and were not. */
	public synchronized long itemsOmitted() {
		long omitted = 0;
		for (Outcome outcome : Outcome.values()) {
			omitted += (lists(outcome)) ? total(outcome) : 0;
		}
		for (Item item : this.items) {
			omitted -= (lists(item.status())) ? 1 : 0;
		}
		return omitted;
	}

	private boolean lists(Outcome outcome) {
		return this.results == Results.ALL
				|| (this.results.lists(outcome) && !(this.dryRun && outcome == Outcome.UNPROCESSED));
	}

	/**
	 * The values taken out of Redis.
	 * @return them in their order, or {@code null} where items carry them
	 */
	public @Nullable List<Object> values() {
		return this.taken.list();
	}

	/** The values that the job took out of Redis. */
	public TakenValues taken() {
		return this.taken;
	}

	/**
	 * The commands and bytes written so far, those sent again included.
	 * @param millis the time in which they were written
	 */
	public synchronized Sent sent(double millis) {
		return new Sent(Math.round(this.replied * 1000 / Math.max(millis, 0.001)), this.commandsSent, this.bytesSent,
				this.writes);
	}

	/**
	 * How many commands on data were written, those sent again included.
	 * @return the count; fewer than records where these had commands in common
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

	/** A part of an account. */
	record Growth(Map<String, Map<Outcome, Long>> records, long commandsSent) {

	}

}
