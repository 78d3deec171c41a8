package io.pipeset.keep;

import java.io.EOFException;
import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.List;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.keep.OutcomeFile.Numbers;
import io.pipeset.memory.MemoryShare;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.JobStatus;
import io.pipeset.report.Outcome;
import io.pipeset.report.OutcomeLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The outcome of each record of a job, as a number in a file: 0 if it was not sent, 1 to
 * 3 if it ran, was a no-op or was sent, and above that the number of a failure plus
 * {@value #FIRST_FAILURE}.
 * <p>
 * The files are consistent even if the process is killed. A record is marked as sent
 * before it is written to Redis. A failure is written before an outcome refers to it, and
 * a connection before it is used. Outcomes are written in the order of the records. So if
 * a record is only marked as sent, no later record of its key has an outcome, unless the
 * {@link io.pipeset.engine.slab.ResendRules} allow it.
 */
public final class OutcomeJournal implements OutcomeLog, AutoCloseable {

	/** The file name extension of the outcomes. */
	public static final String OUTCOMES = ".outcomes";

	/** The file name extension of the {@link JournalNotes}. */
	public static final String NOTES = ".notes";

	private static final Logger logger = LoggerFactory.getLogger(OutcomeJournal.class);

	private static final int NOT_SENT = 0;

	private static final int RAN = 1;

	private static final int NOOP = 2;

	private static final int SENT = 3;

	private static final int FIRST_FAILURE = 4;

	/** The entries below {@link #FIRST_FAILURE}, by their numbers. */
	private static final List<JournalEntry> ENTRIES = List.of(JournalEntry.NOT_RUN,
			new JournalEntry(Outcome.APPLIED, null), new JournalEntry(Outcome.NOOP, null), JournalEntry.MAY_HAVE_RUN);

	private final SpoolFile request;

	private final OutcomeFile outcomes;

	private final JournalNotes notes;

	/** The memory of chunks and failures, until the job ends. */
	private MemoryShare memory;

	private @Nullable IOException failure;

	/** Whether the disk does not even take the mark that the journal is incomplete. */
	private volatile boolean unsafe;

	/** Whether the run of the job has ended, so that nothing is written. */
	private boolean ended;

	/** The stop of the job; {@code null} before the job runs. */
	private volatile @Nullable JobStop stop;

	/**
	 * The journal of a new job, or of one that another process has left.
	 * @param request the file of the request, removed when the job cannot be resumed any
	 * more
	 * @param outcomes the file of the outcomes, empty for a new job
	 * @param notes the file of the failures and connections
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
		tryWrite(() -> this.notes.add(new JournalConnection(node, clientId, runId)));
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
		tryWrite(() -> set(index, (entry.equals(JournalEntry.NOT_RUN)) ? NOT_SENT
				: FIRST_FAILURE + this.notes.number(entry, this.memory)));
	}

	/**
	 * {@inheritDoc} If the job is stopped, it has sent nothing after the record. Then the
	 * record may be sent again if the job is resumed.
	 */
	@Override
	public void unanswered(long index, Failure failure) {
		JobStop stop = this.stop;
		boolean last = stop != null && stop.isSet();
		JournalEntry entry = new JournalEntry(Outcome.UNKNOWN, failure, (last) ? true : null);
		tryWrite(() -> set(index, FIRST_FAILURE + this.notes.number(entry, this.memory)));
	}

	/** Starts the run of the job. */
	void start(JobStop stop) {
		this.stop = stop;
	}

	/**
	 * Writes the changes that a caller has requested.
	 * @return {@code false} if the journal is incomplete, so that no process can resume
	 * the job
	 */
	public boolean note(RequestedChanges asked) {
		tryWrite(() -> this.notes.add(asked));
		return failure() == null;
	}

	/** Writes changes that are not needed to resume the job, if the spool takes them. */
	public void noteIfPossible(RequestedChanges changes) {
		try {
			this.notes.add(changes);
		}
		catch (SpoolException ex) {
			logger.debug("A change of a job cannot be noted", ex);
		}
	}

	/**
	 * The changes that callers have requested so far, merged into one.
	 * @throws IOException if the file cannot be read, or is broken
	 */
	public RequestedChanges asked() throws IOException {
		return this.notes.asked();
	}

	/** Writes all outcomes to the file. */
	@Override
	public void flush() {
		tryWrite(this.outcomes::write);
	}

	private void set(long index, int number) {
		if (this.failure == null && !this.ended) {
			try {
				this.outcomes.set(index, number, this.memory);
			}
			catch (SpoolException ex) {
				giveUp(ex);
			}
		}
	}

	private synchronized void tryWrite(FileWrite write) {
		if (this.failure == null && !this.ended) {
			try {
				write.write();
			}
			catch (SpoolException ex) {
				giveUp(ex);
			}
		}
	}

	/** The file of the request. */
	SpoolFile request() {
		return this.request;
	}

	/**
	 * Gives up the journal. The job goes on without its items. Its request is renamed,
	 * because a later process must not resume it, and must count each record without an
	 * outcome as unknown: the journal does not know all records that were sent.
	 */
	private void giveUp(IOException ex) {
		logger.warn(
				"The outcomes of a job's records are no longer stored, so that its items are lost and it cannot be resumed: {}",
				ex.getMessage());
		this.failure = ex;
		this.unsafe = !this.request.rename(this.request.name().replace(Spool.OF_JOB, Spool.OF_LOST));
		JobStop stop = this.stop;
		if (this.unsafe && stop != null) {
			stop.stop(Cause.INTERNAL_SERVER_ERROR, "The disk of the spool fails, so that the outcomes of records cannot"
					+ " be stored. " + ex.getMessage());
		}
		releaseMemory();
	}

	@Override
	public void requireSafe() {
		if (this.unsafe) {
			throw new IllegalStateException("The disk of the spool fails: nothing more is sent");
		}
	}

	/** Whether an earlier process has given up the journal. */
	boolean isLost() {
		return this.request.name().endsWith(Spool.OF_LOST);
	}

	/** Why the journal is incomplete; {@code null} if it is complete. */
	synchronized @Nullable IOException failure() {
		return this.failure;
	}

	/** Ends the job: no process resumes it, and the next one knows its last status. */
	synchronized void end(JobStatus status) {
		flush();
		tryWrite(() -> this.notes.add(status));
		end();
	}

	/**
	 * The last status of the job; {@code null} if it has not ended.
	 * @throws IOException if the file cannot be read, or is broken
	 */
	@Nullable JobStatus ended() throws IOException {
		return this.notes.ended();
	}

	/** Ends the run of the job: nothing more is written. */
	synchronized void end() {
		flush();
		this.ended = true;
		releaseMemory();
	}

	private void releaseMemory() {
		this.outcomes.drop();
		this.notes.clear();
		this.memory.close();
	}

	/**
	 * Removes an incomplete line, which a killed process has left.
	 * @throws IOException if the files cannot be read, or are broken
	 */
	public void cutOff() throws IOException {
		this.notes.truncateToWholeLines();
	}

	/** The number of records up to the last one that was sent or has an outcome. */
	public long records() {
		return this.outcomes.records();
	}

	/**
	 * Reads the outcomes in their order, while nothing is written.
	 * @param memory the memory for the failures
	 * @throws IOException if the files cannot be read, or are broken
	 */
	public Outcomes outcomes(MemoryShare memory) throws IOException {
		return new Outcomes(this.outcomes.read(), this.notes.failures(memory), isLost());
	}

	/**
	 * The connections that the job has used.
	 * @throws IOException if the file cannot be read, or is broken
	 */
	public List<JournalConnection> connections() throws IOException {
		return this.notes.connections();
	}

	/**
	 * Prepares the journal of a job that is resumed.
	 * @param memory the journal's own, which it closes
	 * @throws IOException if the files cannot be read, or are broken
	 */
	synchronized void resume(MemoryShare memory) throws IOException {
		releaseMemory();
		this.stop = null;
		this.ended = false;
		this.memory = memory;
		this.notes.load(memory);
	}

	/**
	 * Reads the outcomes of earlier runs, while outcomes of later records may be written.
	 */
	synchronized Outcomes earlier() {
		return new Outcomes(this.outcomes.read(), this.notes.failures(), isLost());
	}

	/** Removes the files. */
	@Override
	public synchronized void close() {
		releaseMemory();
		// The request first: without it, no process resumes the job.
		this.request.close();
		this.outcomes.close();
		this.notes.close();
	}

	/** A write to the files. */
	@FunctionalInterface
	private interface FileWrite {

		void write() throws SpoolException;

	}

	/** Reads outcomes in the order of the records. */
	public static final class Outcomes {

		private final Numbers numbers;

		private final List<JournalEntry> failures;

		/** Whether a record without an outcome may have run. */
		private final boolean lost;

		private Outcomes(Numbers numbers, List<JournalEntry> failures, boolean lost) {
			this.lost = lost;
			this.numbers = numbers;
			this.failures = failures;
		}

		/**
		 * The outcome of the next record.
		 * @throws IOException if the file cannot be read, or is broken
		 */
		JournalEntry next() throws IOException {
			int next = this.numbers.next();
			int number = (next == NOT_SENT && this.lost) ? SENT : next;
			if (number < FIRST_FAILURE) {
				return ENTRIES.get(number);
			}
			if (number - FIRST_FAILURE >= this.failures.size()) {
				throw new EOFException("an outcome refers to a failure that is not in the list");
			}
			return this.failures.get(number - FIRST_FAILURE);
		}

		/**
		 * Counts the outcomes of records that are not read.
		 * @param from the index of the first record
		 * @param to the index after the last record
		 * @param account receives the counts and error codes
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
