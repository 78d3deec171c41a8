package io.pipeset.job.directory;

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

import io.pipeset.job.Client;
import io.pipeset.job.EndedJob;
import io.pipeset.job.control.JobRecords;
import io.pipeset.job.directory.JobEnds.JobEnd;
import io.pipeset.job.journal.JobItems;
import io.pipeset.report.Ending;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobState;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * The jobs of callers that this instance knows: those that wait or run, and for an hour
 * the last thousand of those that have ended, as far as their reports fit into 4 MB.
 * Those with files in the spool, and those that are interrupted, are known for
 * {@code pipeset.jobs.retention}.
 */
@Component
public class JobRegistry {

	private static final Logger logger = LoggerFactory.getLogger(JobRegistry.class);

	private static final int MOST_ENDED = 1000;

	private static final long MOST_ENDED_BYTES = 4 << 20;

	private static final long SAMPLE_MILLIS = 250;

	private static final long KEPT_MILLIS = Duration.ofHours(1).toMillis();

	/** Each takes some 5 KB of memory. */
	private static final int MOST_WITH_FILES = 2000;

	/** Hears of each job before it may begin. */
	private volatile Consumer<KnownJob> entered = (job) -> {
	};

	/** By their ids, which sort by time. */
	private final ConcurrentMap<String, KnownJob> jobs = new ConcurrentHashMap<>();

	/** The jobs that have ended, in the order of their end. */
	private final Deque<Kept> ended = new ArrayDeque<>();

	/** Those of them that have files, or whose end is not recorded yet. */
	private final Deque<Kept> endedWithFiles = new ArrayDeque<>();

	private final @Nullable JobEnds ends;

	private final long retentionMillis;

	private final LongSupplier clock;

	private long endedBytes;

	@Autowired
	public JobRegistry(JobEnds ends, JobRecords records) {
		this(ends, records.retention(), System::currentTimeMillis);
	}

	/**
	 * Knows no job yet.
	 * @param ends takes the ends of jobs; {@code null} if they are in memory only
	 * @param retention how long a job with files is known
	 * @param clock milliseconds, by which jobs are forgotten
	 */
	public JobRegistry(@Nullable JobEnds ends, Duration retention, LongSupplier clock) {
		this.ends = ends;
		this.retentionMillis = retention.toMillis();
		this.clock = clock;
	}

	/**
	 * A job is asked for, or goes on.
	 * @param client the name of the client whose job it is
	 */
	public KnownJob enters(QueuedJob job, String client) {
		KnownJob interrupted = this.jobs.get(job.id());
		KnownJob known = (interrupted != null) ? interrupted : new KnownJob(job, client);
		if (interrupted != null) {
			interrupted.goesOn(job);
		}
		this.jobs.put(known.id(), known);
		this.entered.accept(known);
		return known;
	}

	/** Sets what hears of each job before it may begin. */
	void onEnter(Consumer<KnownJob> entered) {
		this.entered = entered;
	}

	/** A process has left a job, which callers may resume or cancel. */
	public KnownJob enters(InterruptedJob job) {
		KnownJob known = new KnownJob(job);
		this.jobs.put(job.id(), known);
		return known;
	}

	/**
	 * A job has ended with another process.
	 * @param items the records that did not run; {@code null} if none are kept
	 */
	public void enters(JobEnd end, @Nullable JobItems items) {
		KnownJob known = new KnownJob(end, items);
		this.jobs.put(known.id(), known);
		Long endedMillis = end.status().endedMillis();
		synchronized (this.ended) {
			this.endedWithFiles.add(new Kept(known, KnownJob.REPORT_BYTES, (endedMillis != null) ? endedMillis : 0));
		}
	}

	/**
	 * The run of a job has ended with a report.
	 * @param whole whether the end is kept on disk, as no caller waits for it
	 */
	public void ends(KnownJob job, EndedJob<?> ended, boolean whole) {
		long bytes = job.ends(ended, (whole) ? this.ends : null);
		if (!job.isLeft()) {
			keep(job, bytes);
		}
	}

	/** All instances know the end of a job. */
	void published(KnownJob job) {
		job.published();
		synchronized (this.ended) {
			if (!job.isKept()) {
				this.endedWithFiles.stream().filter((kept) -> kept.job == job).findFirst().ifPresent((kept) -> {
					this.endedWithFiles.remove(kept);
					this.ended.add(kept);
					this.endedBytes += kept.bytes;
				});
			}
			forgetOld();
		}
	}

	/**
	 * A job was refused, or failed by a defect, and has no report.
	 * @param taken whether its caller was told that it was taken, and may ask for it
	 */
	public void fails(KnownJob job, Ending ending, boolean taken) {
		if (!taken && job.restoreInterrupted()) {
			return;
		}
		// Whoever follows it hears that it has ended.
		long bytes = job.ends(ending, (taken) ? this.ends : null);
		if (taken) {
			keep(job, bytes);
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
	public boolean cancel(KnownJob job) {
		if (job.cancelInterrupted(this.ends)) {
			keep(job, KnownJob.REPORT_BYTES);
			return true;
		}
		return job.cancel();
	}

	private void keep(KnownJob job, long bytes) {
		synchronized (this.ended) {
			Kept kept = new Kept(job, bytes, this.clock.getAsLong());
			if (job.isKept()) {
				this.endedWithFiles.add(kept);
			}
			else {
				this.ended.add(kept);
				this.endedBytes += bytes;
			}
			forgetOld();
		}
	}

	/** Takes a sample of the pace of all jobs, and forgets old ones. */
	@Scheduled(fixedRate = SAMPLE_MILLIS)
	void sample() {
		this.jobs.values().forEach(KnownJob::sample);
		forgetInterrupted();
		synchronized (this.ended) {
			forgetOld();
		}
	}

	private void forgetInterrupted() {
		long since = this.clock.getAsLong() - this.retentionMillis;
		for (KnownJob job : this.jobs.values()) {
			if (job.isInterruptedSince(since)) {
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
		long since = this.clock.getAsLong() - KEPT_MILLIS;
		for (Kept oldest = this.ended.peek(); oldest != null && (this.ended.size() > MOST_ENDED
				|| this.endedBytes > MOST_ENDED_BYTES || oldest.endedMillis < since); oldest = this.ended.peek()) {
			this.ended.remove();
			this.endedBytes -= oldest.bytes;
			forget(oldest);
		}
		since = this.clock.getAsLong() - this.retentionMillis;
		for (Kept oldest = this.endedWithFiles.peek(); oldest != null && (this.endedWithFiles.size() > MOST_WITH_FILES
				|| oldest.endedMillis < since); oldest = this.endedWithFiles.peek()) {
			this.endedWithFiles.remove();
			forget(oldest);
		}
	}

	private void forget(Kept oldest) {
		this.jobs.remove(oldest.job.id());
		oldest.job.discard();
	}

	public Optional<KnownJob> find(String id) {
		return Optional.ofNullable(this.jobs.get(id));
	}

	/**
	 * Finds a job of a client: for others it does not exist.
	 * @return the job, if this instance knows it
	 */
	public Optional<KnownJob> find(String id, Client client) {
		return find(id).filter((job) -> job.client().equals(client.name()));
	}

	/**
	 * Lists the jobs of a client, the newest first.
	 * @param state their state; {@code null} for any
	 * @param kind their kind; {@code null} for any
	 * @param after the id behind which the list begins; {@code null} for the newest job.
	 * It need not be known any more
	 */
	public List<KnownJob> list(Client client, @Nullable JobState state, @Nullable JobKind kind, @Nullable String after,
			int limit) {
		return this.jobs.values()
			.stream()
			.filter((job) -> job.client().equals(client.name()) && (state == null || job.state() == state)
					&& (kind == null || job.kind() == kind) && (after == null || job.id().compareTo(after) < 0))
			.sorted(Comparator.comparing(KnownJob::id).reversed())
			.limit(limit)
			.toList();
	}

	/** The jobs of all clients. */
	List<KnownJob> all() {
		return List.copyOf(this.jobs.values());
	}

	/** A job that has ended, and the memory of its report. */
	private record Kept(KnownJob job, long bytes, long endedMillis) {

	}

}
