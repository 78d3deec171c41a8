package io.pipeset.keep;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.pipeset.keep.control.JobRecords;
import io.pipeset.report.Ending;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.request.Client;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * The jobs of clients that this instance knows. It knows jobs that wait or run. It knows
 * the last 1,000 ended jobs for an hour, if their reports fit into 4 MB. It knows
 * interrupted jobs, and ended jobs with files in the spool, for
 * {@code pipeset.jobs.retention}.
 */
@Component
public class JobRegistry {

	private static final Logger logger = LoggerFactory.getLogger(JobRegistry.class);

	private static final int MOST_ENDED = 1000;

	private static final long MOST_ENDED_BYTES = 4 << 20;

	/** Larger reports that callers have got are kept without their lists. */
	private static final long MOST_ANSWERED_BYTES = 64 << 10;

	private static final long SAMPLE_MILLIS = 250;

	private static final long IN_MEMORY_MILLIS = Duration.ofHours(1).toMillis();

	/** The most ended jobs with files. Each takes about 5 KB of memory. */
	private static final int MOST_WITH_FILES = 2000;

	/** Called with each job before the job may begin. */
	private volatile Consumer<Job> listener = (job) -> {
	};

	/** The jobs by their ids, which sort by time. */
	private final ConcurrentMap<String, Job> jobs = new ConcurrentHashMap<>();

	/** The ended jobs that are only in memory, in the order of their end. */
	private final Deque<EndedEntry> ended = new ArrayDeque<>();

	/**
	 * Called with each ended job whose caller does not wait, while its report is whole.
	 */
	private volatile Consumer<Job> endListener = (job) -> {
	};

	/** The ended jobs with files, among them those whose end is not recorded yet. */
	private final Deque<EndedEntry> endedWithFiles = new ArrayDeque<>();

	private final long retentionMillis;

	private final LongSupplier clock;

	private long endedBytes;

	/** The bytes of the reports of jobs with files, whose lists wait to be recorded. */
	private long filesBytes;

	@Autowired
	public JobRegistry(JobRecords records) {
		this(records.retention(), System::currentTimeMillis);
	}

	/**
	 * Creates an empty registry.
	 * @param retention how long a job with files is known
	 * @param clock the current time in milliseconds
	 */
	public JobRegistry(Duration retention, LongSupplier clock) {
		this.retentionMillis = retention.toMillis();
		this.clock = clock;
	}

	/**
	 * Registers a job that is new, or that is resumed.
	 * @param client the name of the client that owns the job
	 */
	public Job register(JobRun job, String client) {
		Job interrupted = this.jobs.get(job.id());
		Job known = (interrupted != null) ? interrupted : new Job(job, client);
		if (interrupted != null) {
			interrupted.markResumed(job);
		}
		this.jobs.put(known.id(), known);
		this.listener.accept(known);
		return known;
	}

	/** Sets the listener that is called with each job before the job may begin. */
	void onRegister(Consumer<Job> listener) {
		this.listener = listener;
	}

	/** Registers an interrupted job, which callers may resume or cancel. */
	public Job register(InterruptedJob job) {
		Job known = new Job(job);
		this.jobs.put(job.id(), known);
		return known;
	}

	/**
	 * Sets the listener that is called with each ended job whose caller does not wait.
	 */
	void onEnd(Consumer<Job> listener) {
		this.endListener = listener;
	}

	/** Registers a job that ended in an earlier process. */
	void registerEnded(InterruptedJob job, JobStatus status) {
		Job known = new Job(job);
		// Before others see it, who would resume an interrupted job.
		known.markEnded(job, status);
		this.jobs.put(known.id(), known);
		addEnded(known);
	}

	/** Records that a job's run has ended with a report. */
	public void recordEnd(Job job, EndedJob<?> ended) {
		job.markEnded(ended);
	}

	/**
	 * Keeps a job that has ended, once its permits are released: the control Redis, which
	 * gets its whole report, may be slow.
	 * @param run its run, whose memory is not closed yet
	 * @param answered whether a caller waits for the report
	 */
	public void keepEnded(Job job, JobRun run, boolean answered) {
		if (job.isInterruptedByShutdown()) {
			return;
		}
		if (!answered) {
			this.endListener.accept(job);
		}
		job.setKeptBytes(run.settingsBytes(), run.memory().reportBytes());
		if (answered) {
			job.dropLists(MOST_ANSWERED_BYTES);
		}
		addEnded(job);
	}

	/** Removes the files of a job that its record in the control Redis makes needless. */
	void markRecorded(Job job) {
		job.markRecorded();
		synchronized (this.ended) {
			this.endedWithFiles.stream().filter((entry) -> entry.job == job).findFirst().ifPresent((entry) -> {
				this.filesBytes -= job.keptBytes();
				dropListedItems(job);
				if (job.keepsFiles()) {
					this.filesBytes += job.keptBytes();
				}
				else {
					this.endedWithFiles.remove(entry);
					this.ended.add(entry);
					this.endedBytes += job.keptBytes();
				}
			});
			forgetOld();
		}
	}

	/**
	 * Records that a job was refused, or failed because of a defect, and has no report.
	 * @param accepted whether the caller may query the job, because the service accepted
	 * it before
	 */
	public void recordFailure(Job job, Ending ending, boolean accepted) {
		if (!accepted && job.restoreInterrupted()) {
			return;
		}
		// Also for a refused job, because callers that follow it must see its end.
		job.markEnded(ending);
		if (accepted) {
			addEnded(job);
		}
		else {
			this.jobs.remove(job.id());
			job.discard();
		}
	}

	/**
	 * Cancels a job between its batches, or an interrupted one at once.
	 * @return {@code false} if it has ended
	 */
	public boolean cancel(Job job) {
		if (job.cancelInterrupted()) {
			addEnded(job);
			return true;
		}
		return job.cancel();
	}

	/** Ends an interrupted job some of whose outcomes were not stored. */
	void lose(Job job) {
		if (job.endInterrupted(JobState.FAILED, new EndReason("gone", InterruptedJob.LOST))) {
			addEnded(job);
		}
	}

	private void addEnded(Job job) {
		synchronized (this.ended) {
			EndedEntry entry = new EndedEntry(job, this.clock.getAsLong());
			dropListedItems(job);
			if (job.keepsFiles()) {
				this.endedWithFiles.add(entry);
				this.filesBytes += job.keptBytes();
			}
			else {
				this.ended.add(entry);
				this.endedBytes += job.keptBytes();
			}
			forgetOld();
		}
	}

	/** Drops the listed items of a job whose record and files have them as well. */
	private static void dropListedItems(Job job) {
		if (job.isRecorded() && job.keepsFiles()) {
			job.dropLists(0);
		}
	}

	/** Samples the rate of all jobs, and forgets old jobs. */
	@Scheduled(fixedRate = SAMPLE_MILLIS)
	void sample() {
		this.jobs.values().forEach(Job::sample);
		forgetInterrupted();
		synchronized (this.ended) {
			forgetOld();
		}
	}

	private void forgetInterrupted() {
		long since = this.clock.getAsLong() - this.retentionMillis;
		for (Job job : this.jobs.values()) {
			if (job.claimIfInterruptedBefore(since)) {
				this.jobs.remove(job.id());
				job.discard();
				logger.atWarn()
					.addKeyValue("jobId", job.id())
					.log("Job {} was found interrupted longer ago than pipeset.jobs.retention, and no request has"
							+ " resumed it: its files are removed", job.id());
			}
		}
	}

	private void forgetOld() {
		long since = this.clock.getAsLong() - IN_MEMORY_MILLIS;
		for (EndedEntry oldest = this.ended.peek(); oldest != null && (this.ended.size() > MOST_ENDED
				|| this.endedBytes > MOST_ENDED_BYTES || oldest.endedMillis < since); oldest = this.ended.peek()) {
			this.ended.remove();
			this.endedBytes -= oldest.job.keptBytes();
			forget(oldest);
		}
		for (EndedEntry entry : this.endedWithFiles) {
			if (this.filesBytes <= MOST_ENDED_BYTES + MOST_WITH_FILES * Job.REPORT_BYTES) {
				break;
			}
			this.filesBytes -= entry.job.keptBytes();
			entry.job.dropLists(0);
			this.filesBytes += entry.job.keptBytes();
		}
		since = this.clock.getAsLong() - this.retentionMillis;
		for (EndedEntry oldest = this.endedWithFiles.peek(); oldest != null
				&& (this.endedWithFiles.size() > MOST_WITH_FILES
						|| oldest.endedMillis < since); oldest = this.endedWithFiles.peek()) {
			this.endedWithFiles.remove();
			this.filesBytes -= oldest.job.keptBytes();
			forget(oldest);
		}
	}

	private void forget(EndedEntry oldest) {
		this.jobs.remove(oldest.job.id());
		oldest.job.discard();
	}

	/** Forgets a job without files that another instance may finish. */
	void remove(String id) {
		Job job = this.jobs.remove(id);
		if (job != null) {
			job.discard();
		}
	}

	public Optional<Job> find(String id) {
		return Optional.ofNullable(this.jobs.get(id));
	}

	/**
	 * Finds a job of a client. The jobs of other clients are not found.
	 * @return the job, if this instance knows it
	 */
	public Optional<Job> find(String id, Client client) {
		return find(id).filter((job) -> job.client().equals(client.name()));
	}

	/**
	 * Lists the jobs of a client, the newest first.
	 * @param state the state of the jobs; {@code null} for any
	 * @param kind the kind of the jobs; {@code null} for any
	 * @param after the id after which the list begins; {@code null} to begin with the
	 * newest job. The job with this id may be forgotten already
	 * @param limit the most jobs to return
	 */
	public List<Job> list(Client client, @Nullable JobState state, @Nullable JobKind kind, @Nullable String after,
			int limit) {
		return this.jobs.values()
			.stream()
			.filter((job) -> job.client().equals(client.name()) && (state == null || job.state() == state)
					&& (kind == null || job.kind() == kind) && (after == null || job.id().compareTo(after) < 0))
			.sorted(Comparator.comparing(Job::id).reversed())
			.limit(limit)
			.toList();
	}

	/** The jobs of all clients. */
	public List<Job> all() {
		return List.copyOf(this.jobs.values());
	}

	/** An ended job. */
	private record EndedEntry(Job job, long endedMillis) {

	}

}
