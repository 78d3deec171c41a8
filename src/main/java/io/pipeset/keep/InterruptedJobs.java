package io.pipeset.keep;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;

import io.pipeset.engine.lane.JobMark;
import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.Fence;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.Slab;
import io.pipeset.input.SourceException;
import io.pipeset.input.StoredBytes;
import io.pipeset.input.UrlVersion;
import io.pipeset.input.source.UrlSources;
import io.pipeset.memory.MemoryBudget;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.JobStatus;
import io.pipeset.report.RedisIdentity;
import io.pipeset.request.Client;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobRefusedException;
import io.pipeset.request.ServerOperations;
import jakarta.annotation.PostConstruct;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

/**
 * Finds the jobs of earlier processes in the spool: ended jobs, whose report and items
 * callers can read, and interrupted uploads, which callers can resume.
 */
@Component
public class InterruptedJobs {

	private static final Logger logger = LoggerFactory.getLogger(InterruptedJobs.class);

	/** The end of a reason why a job cannot be resumed. */
	private static final String MAY_HAVE_RUN = " records than the report counts may have run: check those that must not"
			+ " run twice, and post the file again";

	/** The most removed files that the log names. */
	private static final int MOST_NAMED = 10;

	private final Spool spool;

	private final JobRegistry registry;

	private final JobLimits limits;

	private final MemoryBudget memory;

	private final RedisNodes nodes;

	private final ServerOperations operations;

	private final RedisIdentity redis;

	private final UrlSources urls;

	/** The jobs whose fences were raised. */
	private final Set<InterruptedJob> fenced = Collections.newSetFromMap(new WeakHashMap<>());

	/** The ids of the jobs that cannot be resumed, and why. */
	private final Map<String, String> broken = new TreeMap<>();

	InterruptedJobs(Spool spool, JobRegistry registry, JobLimits limits, MemoryBudget memory, RedisNodes nodes,
			RedisIdentity redis, ServerOperations operations, UrlSources urls) {
		this.urls = urls;
		this.operations = operations;
		this.redis = redis;
		this.spool = spool;
		this.registry = registry;
		this.limits = limits;
		this.memory = memory;
		this.nodes = nodes;
	}

	/** Registers all jobs in the spool. The service starts even if files are broken. */
	@PostConstruct
	void registerAll() {
		register(this.spool.takeFound());
	}

	/**
	 * Registers the jobs of processes that have ended since the start, and whose spool
	 * folder is next to this one.
	 * @return their ids
	 */
	public synchronized Set<String> takeOver() {
		return register(this.spool.takeOver());
	}

	private Set<String> register(List<SpoolFile> found) {
		Map<String, Map<String, SpoolFile>> jobs = new TreeMap<>();
		for (SpoolFile file : found) {
			int dot = Math.max(0, file.name().indexOf('.'));
			jobs.computeIfAbsent(file.name().substring(0, dot), (id) -> new HashMap<>())
				.put(file.name().substring(dot), file);
		}
		List<String> removed = new ArrayList<>();
		jobs.forEach((id, files) -> {
			String job = (files.containsKey(Spool.OF_LOST)) ? Spool.OF_LOST : Spool.OF_JOB;
			if (files.containsKey(job)) {
				register(id, job, files);
			}
			else if (files.containsKey(Spool.OF_BODY)) {
				this.broken.put(id, "its files are not complete. If its upload was not, nothing ran: post the file"
						+ " again. Otherwise more" + MAY_HAVE_RUN);
			}
			SpoolFile ofRun = files.remove(Spool.OF_RUN);
			if (ofRun != null) {
				ofRun.close();
			}
			files.values().forEach((file) -> {
				removed.add(file.name());
				file.close();
			});
		});
		if (!removed.isEmpty()) {
			logger.warn(
					"{} files of an earlier process were removed from the spool ({}). The upload of their jobs was"
							+ " incomplete, or the jobs cannot be resumed",
					removed.size(), String.join(", ", removed.subList(0, Math.min(MOST_NAMED, removed.size()))));
		}
		return Set.copyOf(jobs.keySet());
	}

	/** Lets the mark of a job with {@code exactlyOnce} expire when the job ends. */
	private void expireMark(String id, JobItems items) {
		if (items.settings().batching().exactlyOnce()) {
			items.whenEnded(() -> JobMark.expire(this.nodes, id));
		}
	}

	private void register(String id, String extension, Map<String, SpoolFile> files) {
		try {
			SpoolFile file = Objects.requireNonNull(files.get(extension));
			SpooledRequest request = SpooledRequest.read(file);
			JobItems items = items(id, file, request, files);
			expireMark(id, items);
			InterruptedJob interrupted = new InterruptedJob(id, this.redis, request, file.modifiedMillis(), items,
					this.memory);
			takeJobFiles(files);
			JobStatus ended = items.journal().ended();
			if (ended != null) {
				this.registry.registerEnded(interrupted, ended);
				return;
			}
			Job job = this.registry.register(interrupted);
			if (interrupted.isLost()) {
				this.registry.lose(job);
				logger.atWarn().addKeyValue("jobId", id).log("Job {} has failed. {}", id, InterruptedJob.LOST);
				return;
			}
			if (items.journal().asked().cancelled() != null) {
				this.registry.cancel(job);
				logger.atInfo().addKeyValue("jobId", id).log("Job {} was cancelled before its process ended", id);
				return;
			}
			logger.atWarn().addKeyValue("jobId", id).log("Job {} was interrupted by the end of its process", id);
		}
		catch (SpooledRequest.OtherVersionException ex) {
			files.clear();
			logger.atWarn()
				.addKeyValue("jobId", id)
				.log("Job {} was interrupted by the end of its process, and this version cannot resume it: {}. Its"
						+ " files are kept for a version that can: start that version, or remove the files {}.*", id,
						ex.getMessage(), id);
		}
		catch (SpoolException | RuntimeException ex) {
			// The next process may have more memory, or a disk that does not fail.
			files.clear();
			logger.atWarn()
				.addKeyValue("jobId", id)
				.log("Job {} was interrupted by the end of its process, and its files cannot be read now: {}. They are"
						+ " kept: start the service again, or remove the files {}.*", id, ex.getMessage(), id);
		}
		catch (IOException ex) {
			String message = ex.getMessage();
			this.broken.put(id, message + ". More" + MAY_HAVE_RUN);
			logger.atWarn()
				.addKeyValue("jobId", id)
				.log("Job {} was interrupted by the end of its process, and cannot be resumed: {}", id, message);
		}
	}

	/**
	 * Opens the body and the journal of a job.
	 * @param file the file of the request
	 * @param files the job's files by the suffix of their names
	 * @throws IOException if a file is incomplete or cannot be read
	 */
	private JobItems items(String id, SpoolFile file, SpooledRequest request, Map<String, SpoolFile> files)
			throws IOException {
		UrlVersion url = request.url();
		StoredBytes body = (url != null) ? this.urls.stored(url) : files.get(Spool.OF_BODY);
		if (body == null) {
			throw new SpoolException("its body is in no folder of this process");
		}
		if (body.bytes() != request.bodyBytes()) {
			throw new IOException("its body is incomplete");
		}
		OutcomeJournal journal = new OutcomeJournal(file, file(id, OutcomeJournal.OUTCOMES, files),
				file(id, OutcomeJournal.NOTES, files), this.memory.open(new JobStop()));
		if (!files.containsKey(OutcomeJournal.OUTCOMES) && !journal.connections().isEmpty()) {
			throw new IOException("the outcomes of its records are missing");
		}
		return new JobItems(request.body(body), journal, request.toSettings(journal.asked().rateLimit()), this.limits,
				this.memory, this.spool, this.nodes.database(), this.operations);
	}

	/** Takes the files that the job owns now out of the map, so that they are kept. */
	private static void takeJobFiles(Map<String, SpoolFile> files) {
		List.of(Spool.OF_JOB, Spool.OF_LOST, Spool.OF_BODY, OutcomeJournal.OUTCOMES, OutcomeJournal.NOTES)
			.forEach(files::remove);
	}

	/** The ids of the jobs that cannot be resumed, and why. */
	Map<String, String> broken() {
		return this.broken;
	}

	private SpoolFile file(String id, String kind, Map<String, SpoolFile> files) throws IOException {
		SpoolFile file = files.get(kind);
		return (file != null) ? file : this.spool.create(id + kind, null);
	}

	/**
	 * Registers a job of this process as interrupted, so that it is resumed like those of
	 * earlier processes.
	 */
	void interrupt(String id) {
		Job job = this.registry.find(id).orElse(null);
		JobItems items = (job != null) ? job.interruptedItems() : null;
		if (job == null || items == null) {
			return;
		}
		try {
			expireMark(id, items);
			job.interrupt(new InterruptedJob(id, this.redis, SpooledRequest.read(items.journal().request()),
					System.currentTimeMillis(), items, this.memory));
		}
		catch (IOException | RuntimeException ex) {
			logger.atWarn()
				.addKeyValue("jobId", id)
				.log("Job {} is interrupted, and only the next process can resume it: {}", id, ex.getMessage());
		}
	}

	/**
	 * Prepares a job to be resumed.
	 * @param job a job that the caller has claimed
	 * @param client the client that resumes it
	 * @return why it cannot be resumed; {@code null} if it can
	 * @throws JobRefusedException if the client may not use the job's URL any more
	 */
	public @Nullable NotResumable prepare(InterruptedJob job, Client client) {
		this.urls.require(client, job.items().body().bytes());
		String missing = job.items().missing();
		if (missing != null) {
			return new NotResumable("gone", missing);
		}
		try (MemoryShare memory = this.memory.open(new JobStop())) {
			List<Slab> sent = new ArrayList<>();
			boolean marked = job.settings().batching().exactlyOnce();
			String notRepeatable = (job.settings().check().dryRun() || marked) ? null
					: job.items().firstNotRepeatable(memory, sent);
			if (notRepeatable != null) {
				return new NotResumable("not-repeatable", notRepeatable
						+ ", which must not run twice, and may have run, so that the job cannot be resumed. Post the records that"
						+ " certainly did not run: GET /v1/jobs/" + job.id()
						+ "/items?status=unprocessed lists them. Check those that may have run, with status=unknown, and decide");
			}
			List<Fence.State> fences = fence(job);
			if (fences.contains(Fence.State.PENDING)) {
				return new NotResumable("redis-unreachable", "Commands of the ended process may still be in flight, and"
						+ " Redis cannot be reached to stop them: resume the job later");
			}
			job.items().goOn(sent, !fences.contains(Fence.State.REFUSED));
			return null;
		}
		catch (MemoryLimitException ex) {
			return new NotResumable("limit",
					"Records that may have run cannot be read: " + ex.getMessage() + ". Resume the job later");
		}
		catch (SourceException ex) {
			return new NotResumable("source-failed", "The job's records cannot be read again. " + ex.getMessage()
					+ ". Resume the job later, or cancel it");
		}
		catch (IOException ex) {
			return new NotResumable("gone", "The job's records cannot be read any more. " + ex.getMessage());
		}
	}

	/**
	 * Starts to fence off the connections of all interrupted jobs, resumable or not: if
	 * their process is only paused, it must not write when it goes on.
	 */
	void raiseFences() {
		for (Job known : this.registry.all()) {
			InterruptedJob job = known.interrupted();
			if (job != null && this.fenced.add(job)) {
				try {
					for (JournalConnection connection : job.items().journal().connections()) {
						RedisNode node = findMaster(connection.node());
						if (node != null && connection.clientId() != null && connection.runId() != null) {
							node.fence(connection.clientId(), connection.runId());
						}
					}
				}
				catch (IOException | NoConnectionException ex) {
					logger.debug("The connections of job {} cannot be fenced off now", known.id(), ex);
				}
			}
		}
	}

	/** Fences off the job's old connections, so that no command in flight runs later. */
	private List<Fence.State> fence(InterruptedJob job) throws IOException {
		Duration timeout = job.settings().reliability().timeout();
		List<Fence.State> states = new ArrayList<>();
		for (JournalConnection connection : job.items().journal().connections()) {
			states.add(fence(connection, timeout));
		}
		return states;
	}

	private Fence.State fence(JournalConnection connection, Duration timeout) {
		RedisNode node;
		try {
			node = findMaster(connection.node());
		}
		catch (NoConnectionException ex) {
			return Fence.State.PENDING;
		}
		if (node == null) {
			// Writes to a former master are lost anyway.
			return Fence.State.CONFIRMED;
		}
		if (connection.clientId() == null || connection.runId() == null) {
			// Without the run id, the client id may belong to another connection.
			return Fence.State.REFUSED;
		}
		return node.fence(connection.clientId(), connection.runId()).await(timeout, false, new JobStop());
	}

	/** The server of a connection; {@code null} if it is no master of the cluster now. */
	private @Nullable RedisNode findMaster(String name) throws NoConnectionException {
		if (!this.nodes.isCluster()) {
			return this.nodes.masters().get(0);
		}
		RedisNode found = this.nodes.find(name);
		if (found == null) {
			this.nodes.refresh();
			found = this.nodes.find(name);
		}
		if (found == null && this.nodes.masters().isEmpty()) {
			throw new NoConnectionException(this.nodes.name(), "no node of the cluster has answered yet");
		}
		return found;
	}

	/**
	 * Why a job cannot be resumed.
	 *
	 * @param type the last part of the problem type
	 * @param detail the reason and what to do, for the caller
	 */
	public record NotResumable(String type, String detail) {

	}

}
