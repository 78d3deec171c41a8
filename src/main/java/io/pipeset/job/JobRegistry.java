package io.pipeset.job;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.LongSupplier;

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
 * Those that another process has left are known for a day.
 */
@Component
public class JobRegistry {

	private static final Logger logger = LoggerFactory.getLogger(JobRegistry.class);

	private static final int MOST_ENDED = 1000;

	private static final long MOST_ENDED_BYTES = 4 << 20;

	private static final long SAMPLE_MILLIS = 250;

	private static final long KEPT_MILLIS = Duration.ofHours(1).toMillis();

	private static final long KEPT_INTERRUPTED_MILLIS = Duration.ofDays(1).toMillis();

	/** By their ids, which sort by time. */
	private final ConcurrentMap<String, KnownJob> jobs = new ConcurrentHashMap<>();

	/** The jobs that have ended, in the order of their end. */
	private final Deque<Kept> ended = new ArrayDeque<>();

	private final @Nullable ReportFiles files;

	private final LongSupplier clock;

	private long endedBytes;

	@Autowired
	JobRegistry(ReportFiles files) {
		this(files, System::currentTimeMillis);
	}

	/**
	 * Knows no job yet.
	 * @param files the place of large reports; {@code null} for none
	 * @param clock milliseconds, by which jobs are forgotten
	 */
	JobRegistry(@Nullable ReportFiles files, LongSupplier clock) {
		this.files = files;
		this.clock = clock;
	}

	/**
	 * A job is asked for, or goes on.
	 * @param client the name of the client whose job it is
	 */
	KnownJob enters(QueuedJob job, String client) {
		KnownJob interrupted = this.jobs.get(job.id());
		if (interrupted != null) {
			interrupted.goesOn(job);
			return interrupted;
		}
		KnownJob known = new KnownJob(job, client);
		this.jobs.put(known.id(), known);
		return known;
	}

	/** A process has left a job, which somebody may resume. */
	void enters(InterruptedJob job) {
		this.jobs.put(job.id(), new KnownJob(job));
	}

	/**
	 * A job has ended with a report.
	 * @param whole whether the report is kept whole, as nobody else has it
	 */
	void ends(KnownJob job, EndedJob<?> ended, boolean whole) {
		keep(job, job.ends(ended, (whole) ? this.files : null));
	}

	/**
	 * A job was refused, or failed by a defect, and has no report.
	 * @param taken whether its caller was told that it was taken, and may ask for it
	 */
	void fails(KnownJob job, Ending ending, boolean taken) {
		if (!taken && job.isInterruptedAgain()) {
			return;
		}
		// Whoever follows it hears that it has ended.
		long bytes = job.ends(ending);
		if (taken) {
			keep(job, bytes);
		}
		else {
			this.jobs.remove(job.id());
			job.isForgotten();
		}
	}

	/**
	 * Cancels a job between its batches, or an interrupted one at once.
	 * @return {@code false} if it has ended
	 */
	public boolean cancel(KnownJob job) {
		if (job.cancelInterrupted()) {
			keep(job, KnownJob.REPORT_BYTES);
			return true;
		}
		return job.cancel();
	}

	private void keep(KnownJob job, long bytes) {
		synchronized (this.ended) {
			this.ended.add(new Kept(job, bytes, this.clock.getAsLong()));
			this.endedBytes += bytes;
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
		long since = this.clock.getAsLong() - KEPT_INTERRUPTED_MILLIS;
		for (KnownJob job : this.jobs.values()) {
			if (job.isInterruptedSince(since)) {
				this.jobs.remove(job.id());
				job.isForgotten();
				logger.atWarn()
					.addKeyValue("jobId", job.id())
					.log("Job {} was interrupted a day ago, and nobody has resumed it: its files are removed",
							job.id());
			}
		}
	}

	private void forgetOld() {
		long since = this.clock.getAsLong() - KEPT_MILLIS;
		for (Kept oldest = this.ended.peek(); oldest != null && (this.ended.size() > MOST_ENDED
				|| this.endedBytes > MOST_ENDED_BYTES || oldest.endedMillis < since); oldest = this.ended.peek()) {
			this.ended.remove();
			this.endedBytes -= oldest.bytes;
			this.jobs.remove(oldest.job.id());
			oldest.job.isForgotten();
		}
	}

	Optional<KnownJob> find(String id) {
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

	/** The jobs of all clients that may be resumed. */
	List<KnownJob> interrupted() {
		return this.jobs.values().stream().filter((job) -> job.state() == JobState.INTERRUPTED).toList();
	}

	/** A job that has ended, and the memory of its report. */
	private record Kept(KnownJob job, long bytes, long endedMillis) {

	}

}
