package io.pipeset.job.directory;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.pipeline.Fence;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.Slab;
import io.pipeset.job.JobLimits;
import io.pipeset.job.directory.JobEnds.JobEnd;
import io.pipeset.job.journal.JobItems;
import io.pipeset.job.journal.JournalConnection;
import io.pipeset.job.journal.OutcomeJournal;
import io.pipeset.job.journal.SpooledRequest;
import io.pipeset.job.memory.MemoryBudget;
import io.pipeset.job.memory.MemoryShare;
import io.pipeset.job.spool.Spool;
import io.pipeset.job.spool.SpoolFile;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.RedisIdentity;
import jakarta.annotation.PostConstruct;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

/**
 * Finds the jobs that a process has left in the spool when it ended: those that had
 * ended, whose report and items callers may ask for, and uploads that callers may go on
 * with.
 */
@Component
public class InterruptedJobs {

	private static final Logger logger = LoggerFactory.getLogger(InterruptedJobs.class);

	private static final int MOST_NAMED = 10;

	private static final String BODY = ".body";

	private final Spool spool;

	private final JobRegistry registry;

	private final JobLimits limits;

	private final MemoryBudget memory;

	private final RedisNodes nodes;

	private final JobEnds ends;

	private final RedisIdentity redis;

	/** The jobs whose files are broken, and how. */
	private final Map<String, String> broken = new TreeMap<>();

	InterruptedJobs(Spool spool, JobRegistry registry, JobLimits limits, MemoryBudget memory, RedisNodes nodes,
			JobEnds ends, RedisIdentity redis) {
		this.ends = ends;
		this.redis = redis;
		this.spool = spool;
		this.registry = registry;
		this.limits = limits;
		this.memory = memory;
		this.nodes = nodes;
	}

	/** Whatever the files hold, the service starts. */
	@PostConstruct
	void find() {
		Map<String, Map<String, SpoolFile>> jobs = new TreeMap<>();
		for (SpoolFile file : this.spool.takeFound()) {
			int point = Math.max(0, file.name().indexOf('.'));
			jobs.computeIfAbsent(file.name().substring(0, point), (id) -> new HashMap<>())
				.put(file.name().substring(point), file);
		}
		List<String> removed = new ArrayList<>();
		enterEnded(jobs);
		jobs.forEach((id, files) -> {
			if (files.containsKey(Spool.OF_JOB)) {
				enterInterrupted(id, files);
			}
			files.values().forEach((file) -> {
				removed.add(file.name());
				file.close();
			});
		});
		if (!removed.isEmpty()) {
			logger.warn(
					"{} files that a process has left in the spool were removed ({}), of jobs whose upload was not"
							+ " whole, or that cannot be gone on with",
					removed.size(), String.join(", ", removed.subList(0, Math.min(MOST_NAMED, removed.size()))));
		}
	}

	/** The jobs that had ended, the first one first, as their files are removed so. */
	private void enterEnded(Map<String, Map<String, SpoolFile>> jobs) {
		List<JobEnd> found = new ArrayList<>();
		jobs.forEach((id, files) -> {
			SpoolFile end = files.get(Spool.OF_END);
			try {
				if (end != null) {
					found.add(this.ends.read(end, files.get(JobEnds.REPORT)));
					files.remove(Spool.OF_END);
					files.remove(JobEnds.REPORT);
				}
			}
			catch (IOException | RuntimeException ex) {
				// Its process ended before it was written: the job has not ended.
				logger.debug("The end of job {} cannot be read", id, ex);
			}
		});
		found.sort(Comparator.comparing((end) -> Objects.requireNonNullElse(end.status().endedMillis(), 0L)));
		for (JobEnd end : found) {
			JobItems items = null;
			Map<String, SpoolFile> files = jobs.getOrDefault(end.status().jobId(), Map.of());
			try {
				SpoolFile file = files.get(Spool.OF_JOB);
				if (file != null) {
					items = items(end.status().jobId(), file, SpooledRequest.read(file), files);
					items.journal().cutOff();
					taken(files);
					items.ends(false, true);
				}
			}
			catch (IOException | RuntimeException ex) {
				logger.warn("The items of job {}, which has ended, cannot be read any more: {}", end.status().jobId(),
						ex.toString());
			}
			this.registry.enters(end, items);
		}
	}

	private void enterInterrupted(String id, Map<String, SpoolFile> files) {
		try {
			SpoolFile file = Objects.requireNonNull(files.get(Spool.OF_JOB));
			SpooledRequest request = SpooledRequest.read(file);
			JobItems items = items(id, file, request, files);
			KnownJob job = this.registry.enters(new InterruptedJob(id, this.redis, request, items, this.memory));
			taken(files);
			if (items.journal().asked().cancelled() != null) {
				this.registry.cancel(job);
				logger.atInfo().addKeyValue("jobId", id).log("Job {} was cancelled before its process ended", id);
				return;
			}
			logger.atWarn()
				.addKeyValue("jobId", id)
				.log("Job {} was interrupted by the end of its process. Resume it by POST /v1/jobs/{}/resume,"
						+ " or cancel it by DELETE", id, id);
		}
		catch (SpooledRequest.OtherVersionException ex) {
			files.clear();
			logger.atWarn()
				.addKeyValue("jobId", id)
				.log("Job {} was interrupted by the end of its process, and this version cannot go on with it: {}. Its"
						+ " files are kept for a version that can: start that one, or remove the files {}.*", id,
						ex.getMessage(), id);
		}
		catch (IOException | RuntimeException ex) {
			String message = (ex instanceof IOException) ? ex.getMessage() : ex.toString();
			this.broken.put(id, String.valueOf(message));
			logger.atWarn()
				.addKeyValue("jobId", id)
				.log("Job {} was interrupted by the end of its process, and cannot be gone on with: {}", id, message);
		}
	}

	/**
	 * Opens the body and the journal of a job.
	 * @param files by the ends of their names
	 */
	private JobItems items(String id, SpoolFile file, SpooledRequest request, Map<String, SpoolFile> files)
			throws IOException {
		SpoolFile body = files.get(BODY);
		if (body == null || body.bytes() != request.bodyBytes()) {
			throw new IOException("its body is not whole");
		}
		OutcomeJournal journal = new OutcomeJournal(file, file(id, OutcomeJournal.OUTCOMES, files),
				file(id, OutcomeJournal.NOTES, files), this.memory.open(new JobStop()));
		return new JobItems(request.body(body), journal, request.toSettings(journal.asked().rateLimit()), this.limits,
				this.memory, this.spool, this.nodes.database());
	}

	/** The job has these files from now on. */
	private static void taken(Map<String, SpoolFile> files) {
		List.of(Spool.OF_JOB, BODY, OutcomeJournal.OUTCOMES, OutcomeJournal.NOTES).forEach(files::remove);
	}

	/** The jobs whose files were found and cannot be gone on with, and why. */
	Map<String, String> broken() {
		return this.broken;
	}

	private SpoolFile file(String id, String kind, Map<String, SpoolFile> files) throws IOException {
		SpoolFile file = files.get(kind);
		return (file != null) ? file : this.spool.create(id + kind, null);
	}

	/**
	 * Sees to it that a job can go on.
	 * @param job a job that the caller has claimed
	 * @return the reason why it cannot; {@code null} if it can
	 */
	public @Nullable NotResumable prepare(InterruptedJob job) {
		String missing = job.items().missing();
		if (missing != null) {
			return new NotResumable("gone", missing);
		}
		try (MemoryShare memory = this.memory.open(new JobStop())) {
			List<Slab> sent = new ArrayList<>();
			String once = (job.settings().dryRun()) ? null : job.items().firstNotRepeatable(memory, sent);
			if (once != null) {
				return new NotResumable("not-repeatable", once
						+ ", which must not run twice, so that the job does not go"
						+ " on. Post what certainly did not run, as GET /v1/jobs/" + job.id()
						+ "/items?status=unprocessed lists it; look at what may have run, under status=unknown, and decide");
			}
			List<Fence.State> fences = fence(job);
			if (fences.contains(Fence.State.PENDING)) {
				return new NotResumable("redis-unreachable", "Commands of the process that has ended may still be on"
						+ " their way, and Redis cannot be reached to keep them from running: resume the job later");
			}
			job.items().goOn(sent, !fences.contains(Fence.State.REFUSED));
			return null;
		}
		catch (MemoryLimitException ex) {
			return new NotResumable("limit",
					"Records that may have run cannot be looked at: " + ex.getMessage() + ". Resume the job later");
		}
		catch (IOException ex) {
			return new NotResumable("gone", "The job's records cannot be read any more. " + ex.getMessage());
		}
	}

	/** Keeps commands that are still on their way from running later, over newer data. */
	private List<Fence.State> fence(InterruptedJob job) throws IOException {
		Duration timeout = job.settings().timeout();
		List<Fence.State> states = new ArrayList<>();
		for (JournalConnection connection : job.items().journal().connections()) {
			states.add(fence(connection, timeout));
		}
		return states;
	}

	private Fence.State fence(JournalConnection connection, Duration timeout) {
		RedisNode node;
		try {
			node = node(connection.node());
		}
		catch (NoConnectionException ex) {
			return Fence.State.PENDING;
		}
		if (node == null) {
			// What a former master still runs is not kept.
			return Fence.State.CONFIRMED;
		}
		if (connection.clientId() == null || connection.runId() == null) {
			// Its number may be that of somebody else by now.
			return Fence.State.REFUSED;
		}
		return node.fence(connection.clientId(), connection.runId()).await(timeout, false, new JobStop());
	}

	/** The server of a connection; {@code null} if a cluster has it no more as master. */
	private @Nullable RedisNode node(String name) throws NoConnectionException {
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
	 * The reason for which a job does not go on.
	 *
	 * @param type the last part of the problem's type
	 * @param detail the reason and the remedy
	 */
	public record NotResumable(String type, String detail) {

	}

}
