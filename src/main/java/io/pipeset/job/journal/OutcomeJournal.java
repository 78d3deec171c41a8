package io.pipeset.job.journal;

import java.io.EOFException;
import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.List;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.job.journal.OutcomeFile.Numbers;
import io.pipeset.job.memory.MemoryShare;
import io.pipeset.job.spool.SpoolException;
import io.pipeset.job.spool.SpoolFile;
import io.pipeset.report.Account;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;
import io.pipeset.report.OutcomeLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The outcome of each record of a job in a file, as a number: 0 for a record that was not
 * sent, one each for those that ran and for those that were sent, and above them the
 * place of a failure in a list.
 * <p>
 * At whatever moment the process is killed, the files are right: a record is entered as
 * sent before it is written to Redis, a failure is in its list before an outcome names
 * it, and a connection before it is used. Outcomes reach the file in the order of the
 * records. So no record that is only sent stands ahead of one of its key with an outcome,
 * but where the rules for sending again allow it.
 */
public final class OutcomeJournal implements OutcomeLog, AutoCloseable {

	/** The end of the name of the file with the outcomes. */
	public static final String OUTCOMES = ".outcomes";

	/** The end of the name of the file with the failures and connections. */
	public static final String NOTES = ".notes";

	private static final Logger logger = LoggerFactory.getLogger(OutcomeJournal.class);

	private static final int NOT_SENT = 0;

	private static final int RAN = 1;

	private static final int NOOP = 2;

	private static final int SENT = 3;

	private static final int FIRST_FAILURE = 4;

	/** The entries that are no failures, by their numbers. */
	private static final List<JournalEntry> ENTRIES = List.of(JournalEntry.NOT_RUN,
			new JournalEntry(Outcome.APPLIED, null), new JournalEntry(Outcome.NOOP, null), JournalEntry.MAY_HAVE_RUN);

	private final SpoolFile request;

	private final OutcomeFile outcomes;

	private final JournalNotes notes;

	/** The memory of the parts and the failures, until the job ends. */
	private MemoryShare memory;

	private @Nullable IOException failure;

	/** The job that runs; {@code null} before it does. */
	private volatile @Nullable JobStop stop;

	/**
	 * A journal of a job that has not begun, or that a process has left.
	 * @param request is removed as soon as nobody can go on with the job
	 * @param outcomes the outcomes, empty for a new job
	 * @param notes the failures and connections
	 * @param memory the journal's own, which it closes
	 */
	public OutcomeJournal(SpoolFile request, SpoolFile outcomes, SpoolFile notes, MemoryShare memory) {
		this.request = request;
		this.outcomes = new OutcomeFile(outcomes);
		this.notes = new JournalNotes(notes);
		this.memory = memory;
	}

	@Override
	public void connected(String node, @Nullable Long clientId, @Nullable String runId) {
		enter(() -> this.notes.add(new JournalConnection(node, clientId, runId)));
	}

	@Override
	public synchronized void sent(long index) {
		set(index, SENT);
	}

	@Override
	public synchronized void ran(long index, boolean noop) {
		set(index, (noop) ? NOOP : RAN);
	}

	@Override
	public void failed(long index, Outcome outcome, Failure failure) {
		JournalEntry entry = new JournalEntry(outcome, failure);
		enter(() -> set(index, (entry.equals(JournalEntry.NOT_RUN)) ? NOT_SENT
				: FIRST_FAILURE + this.notes.place(entry, this.memory)));
	}

	/**
	 * {@inheritDoc} If the job is stopped, it has sent nothing after the record, which
	 * may be sent again if the job goes on.
	 */
	@Override
	public void unanswered(long index, Failure failure) {
		JobStop stop = this.stop;
		boolean last = stop != null && stop.isSet();
		JournalEntry entry = new JournalEntry(Outcome.UNKNOWN, failure, (last) ? true : null);
		enter(() -> set(index, FIRST_FAILURE + this.notes.place(entry, this.memory)));
	}

	/** The job runs from now on. */
	void begins(JobStop stop) {
		this.stop = stop;
	}

	/**
	 * Takes note of what a caller has asked for.
	 * @return {@code false} if the journal is not whole, so that no process goes on with
	 * the job
	 */
	public boolean note(RequestedChanges asked) {
		enter(() -> this.notes.add(asked));
		return failure() == null;
	}

	/**
	 * What callers have asked for so far.
	 * @throws IOException if the file cannot be read, or is broken
	 */
	public RequestedChanges asked() throws IOException {
		return this.notes.asked();
	}

	/** Writes what was entered to the file. */
	@Override
	public void flush() {
		enter(this.outcomes::write);
	}

	private void set(long index, int number) {
		if (this.failure == null) {
			try {
				this.outcomes.set(index, number, this.memory);
			}
			catch (SpoolException ex) {
				fails(ex);
			}
		}
	}

	private synchronized void enter(Writing writing) {
		if (this.failure == null) {
			try {
				writing.write();
			}
			catch (SpoolException ex) {
				fails(ex);
			}
		}
	}

	/**
	 * The job goes on: only its items are lost. Nobody may go on with it later, as
	 * records are sent that the journal does not know of.
	 */
	private void fails(IOException ex) {
		logger.warn("The outcomes of the records of a job are not kept: {}", ex.getMessage());
		this.failure = ex;
		this.request.close();
		forget();
	}

	/** The reason for which the journal is not whole; {@code null} if it is. */
	synchronized @Nullable IOException failure() {
		return this.failure;
	}

	/** The files are those of no job any more, for the next process. */
	void forgetRequest() {
		this.request.close();
	}

	/** The run of the job has ended: nothing more is entered. */
	synchronized void ends() {
		flush();
		forget();
	}

	private void forget() {
		this.outcomes.forget();
		this.notes.forget();
		this.memory.close();
	}

	/**
	 * Cuts off what the process that was killed has written in part.
	 * @throws IOException if the files cannot be read, or are broken
	 */
	public void cutOff() throws IOException {
		this.notes.cutOff();
	}

	/** The number of records up to the last one that was entered. */
	public long records() {
		return this.outcomes.records();
	}

	/**
	 * Reads the outcomes in their order, while nothing is entered.
	 * @param memory takes the failures
	 * @throws IOException if the files cannot be read, or are not whole
	 */
	public Outcomes outcomes(MemoryShare memory) throws IOException {
		return new Outcomes(this.outcomes.read(), this.notes.failures(memory));
	}

	/**
	 * The connections that the job has used.
	 * @throws IOException if the file cannot be read, or is not whole
	 */
	public List<JournalConnection> connections() throws IOException {
		return this.notes.connections();
	}

	/**
	 * The job goes on, and enters more.
	 * @param memory the journal's own, which it closes
	 * @throws IOException if the files cannot be read, or are not whole
	 */
	synchronized void goesOn(MemoryShare memory) throws IOException {
		forget();
		this.stop = null;
		this.memory = memory;
		this.notes.load(memory);
	}

	/** Reads the outcomes that there are, while others are entered behind the reader. */
	synchronized Outcomes earlier() {
		return new Outcomes(this.outcomes.read(), this.notes.failures());
	}

	/** Forgets all, and removes the files. */
	@Override
	public synchronized void close() {
		forget();
		// In this order, as the files without a request are those of no job.
		this.request.close();
		this.outcomes.close();
		this.notes.close();
	}

	/** Writes to the files. */
	@FunctionalInterface
	private interface Writing {

		void write() throws SpoolException;

	}

	/** Reads outcomes, one record after the other. */
	public static final class Outcomes {

		private final Numbers numbers;

		private final List<JournalEntry> failures;

		private Outcomes(Numbers numbers, List<JournalEntry> failures) {
			this.numbers = numbers;
			this.failures = failures;
		}

		/**
		 * The outcome of the next record.
		 * @throws IOException if the file cannot be read, or is broken
		 */
		JournalEntry next() throws IOException {
			int number = this.numbers.next();
			if (number < FIRST_FAILURE) {
				return ENTRIES.get(number);
			}
			if (number - FIRST_FAILURE >= this.failures.size()) {
				throw new EOFException("an outcome that nobody has written");
			}
			return this.failures.get(number - FIRST_FAILURE);
		}

		/**
		 * Counts the outcomes of records that nobody reads.
		 * @param from the first of them
		 * @param to the first one behind them
		 * @param account takes their counts and codes
		 * @throws IOException if the file cannot be read, or is broken
		 */
		public void count(long from, long to, Account account) throws IOException {
			IdentityHashMap<JournalEntry, Long> counts = new IdentityHashMap<>();
			this.numbers.skipTo(from);
			for (long index = from; index < to; index++) {
				counts.merge(next(), 1L, Long::sum);
			}
			counts.forEach((entry, records) -> {
				account.countEarlier(Account.NO_OPERATION, entry.outcome(), records);
				if (entry.failure() != null) {
					account.errorCodes().add(entry.failure().code(), records);
				}
			});
		}

	}

}
