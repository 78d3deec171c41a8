package io.pipeset.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.KeyFilter;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.input.Caller;
import io.pipeset.input.Caller.Watch;
import io.pipeset.input.Sweep;
import io.pipeset.input.SweptRecords;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Item;
import io.pipeset.report.JobReport.Replaced;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.Losses;
import io.pipeset.report.Outcome;
import io.pipeset.request.Client;
import org.jspecify.annotations.Nullable;

/**
 * The last stage of a job with the setting {@code replace}: a sweep that removes the keys
 * of the pattern that the job's records did not write. It begins only if all records ran.
 * Its commands have an account of their own.
 */
final class Replacement implements AutoCloseable {

	private static final String NOT_REPLACED = "NOT_REPLACED";

	private static final int MAX_EXTRA_KEYS = 1000;

	/** The memory of a key in a report, without its characters, in bytes. */
	private static final int KEY_BYTES = 64;

	private static final String OTHER_MASTER = "another server became master while the job ran, and may not have all"
			+ " records: send them again";

	private final RunningJob job;

	private final LaneContext load;

	private final Sweep sweep;

	private final WrittenKeys written;

	/** The stop of the job; in a dry run another one, which does not fail the job. */
	private final JobStop stop;

	private final Account removals;

	/** The failovers before the job. */
	private final int failovers;

	private boolean begun;

	private boolean finished;

	/** The first keys that are not removed, because the job only compares. */
	private final List<Object> extraKeys = Collections.synchronizedList(new ArrayList<>());

	/** Why nothing is removed; {@code null} if keys are, or may be. */
	private @Nullable String obstacle;

	/** Whether the servers were asked whether they still have all records. */
	private boolean checked;

	/**
	 * Prepares to replace the keys of a pattern.
	 * @param load the context of the job's records
	 * @param written closed by {@link #close()}
	 */
	Replacement(RunningJob job, LaneContext load, Client client, String pattern, WrittenKeys written) {
		this.job = job;
		this.load = load;
		this.written = written;
		this.sweep = Sweep.removing(new KeyFilter(pattern, null), client.keys(), (key) -> !written.contain(key));
		this.stop = (isDryRun()) ? new JobStop() : load.stop();
		this.removals = load.account().ofOtherCommands();
		this.failovers = load.nodes().failovers();
	}

	/** Notes the keys of a record that will run, or has run in an earlier run. */
	void add(Record record) {
		this.written.add(record);
	}

	/**
	 * Notes the keys of a record that has run in an earlier run. If this process refuses
	 * the record, because its limits are lower, the keys are unknown.
	 */
	void addEarlier(Record record) {
		if (record.rejection() == null) {
			add(record);
		}
		else {
			this.written.fail("the keys of record " + record.index()
					+ ", which ran earlier, cannot be read within the limits of this process");
		}
	}

	/**
	 * Removes keys, if all records ran. Call this after the last outcome.
	 * @param mayWrite asks the caller whether the job may write, and stops the job if not
	 */
	void run(Caller caller, BooleanSupplier mayWrite) {
		this.obstacle = findObstacle();
		if (this.obstacle != null) {
			return;
		}
		this.begun = true;
		Runnable passOn = () -> this.stop.stop(Cause.CANCELLED, "The job was stopped");
		this.load.stop().add(passOn);
		LaneContext context = context();
		Lanes lanes = new Lanes(context);
		this.job.memory().beforeWait(lanes::sendBegun);
		Watch watch = caller.watch(() -> this.load.stop().stop(Cause.CANCELLED, Caller.GONE));
		RateLimiter rateLimiter = new RateLimiter(this.job.rateLimit(),
				(isDryRun()) ? null : this.job.settings().pace().maxLatency(), lanes, context);
		boolean complete = false;
		try {
			rateLimiter.open();
			if (this.written.sort(this.stop::isSet)) {
				this.load.account().beginReplacing(this::replaced);
				complete = remove(lanes, rateLimiter, mayWrite);
			}
		}
		catch (RuntimeException | Error ex) {
			lanes.crashed(ex);
			this.load.stop().becauseOfDefect(ex);
		}
		finally {
			watch.end();
			try {
				lanes.drain();
			}
			finally {
				lanes.close();
			}
			rateLimiter.close();
			this.load.account().endReplacing();
			this.load.account().losses().onLoss(null);
			this.load.stop().remove(passOn);
			this.load.meters().grow(this.removals);
			this.load.clock().waited(rateLimiter.waitedNanos());
		}
		end(complete);
	}

	/** Why nothing may be removed, as the end of a sentence; {@code null} if it may. */
	private @Nullable String findObstacle() {
		Counts counts = this.load.account().counts();
		if (this.load.stop().isSet()) {
			return "the job ended early: send all records again";
		}
		// A record without an outcome, by a defect, may not have run either.
		long failed = ((isDryRun()) ? counts.rejected() : counts.errors()) + this.job.progress().received()
				- counts.received();
		if (failed > 0 || !this.job.progress().isComplete() || !this.job.progress().ending().equals(Ending.COMPLETED)) {
			return (failed > 0) ? failed + " of the records failed: fix the cause, and send all records again"
					: "not all records were read: send them again";
		}
		if (this.written.isEmpty()) {
			return "no record wrote a key of that pattern: to remove all keys of a pattern, send a sweep of UNLINK";
		}
		if (this.load.nodes().failovers() != this.failovers) {
			return OTHER_MASTER;
		}
		return this.written.failure();
	}

	/**
	 * Why a server may have lost records of the job, as the end of a sentence;
	 * {@code null} if none has. Runs of earlier processes count as well.
	 */
	private @Nullable String findLoss() throws NoConnectionException {
		Losses losses = this.load.account().losses();
		Set<String> earlier = (this.job.items() != null) ? this.job.items().earlierServers() : new HashSet<>();
		for (RedisNode master : this.load.nodes().masters()) {
			losses.server(master.name(), master.calls().runId());
			earlier.remove(master.name());
		}
		if (!earlier.isEmpty() || this.load.nodes().failovers() != this.failovers) {
			return OTHER_MASTER;
		}
		String restarted = losses.restarted();
		return (restarted != null) ? "Redis at " + restarted
				+ " was restarted while the job ran, and may not have all records: send them again" : null;
	}

	/** Asks the servers before the first key whether they still have all records. */
	private boolean haveServersAll() {
		if (!this.checked) {
			try {
				this.obstacle = findLoss();
			}
			catch (NoConnectionException | RedisCallException ex) {
				this.stop.stop(Cause.REDIS_UNREACHABLE, String.valueOf(ex.getMessage()));
				return false;
			}
			this.checked = this.obstacle == null;
			if (this.checked) {
				this.load.account().losses().onLoss(this::stopAfterLoss);
			}
			if (this.checked && this.job.items() != null) {
				this.job.items().beginRemoving();
			}
		}
		return this.checked;
	}

	private void stopAfterLoss() {
		this.stop.stop(Cause.REDIS_LOST, "Redis was restarted, or another server became master, while keys were"
				+ " removed, and it may not have all records.");
	}

	private boolean isDryRun() {
		return !this.job.settings().writes();
	}

	private LaneContext context() {
		return new LaneContext(this.load.settings().withoutCoalescing(), this.removals, this.load.clock(), this.stop,
				this.load.retries(), this.load.inFlight(), this.load.nodes(), this.load.pipeline(), this.load.meters(),
				this.load.trace(), this.load.executor(), null, this.load.memory(), this::stopIfRefused);
	}

	/** Removes all keys; {@code false} if the job was stopped before. */
	private boolean remove(Lanes lanes, RateLimiter rateLimiter, BooleanSupplier mayWrite) {
		Record record = new Record(RecordDefaults.NONE, this.job.memory());
		try (SweptRecords keys = new SweptRecords(this.sweep, lanes, context(), this.job.memory())) {
			while (!this.stop.isSet()) {
				if (!keys.read(record)) {
					return !this.stop.isSet();
				}
				if (isDryRun()) {
					this.removals.count(Operation.UNLINK.toString(), Outcome.UNPROCESSED, 1);
					listExtra(record);
				}
				else if (!haveServersAll()) {
					return false;
				}
				else if (mayWrite.getAsBoolean()) {
					// A key that SCAN finds twice, or that is gone, does not count.
					record.countReply();
					rateLimiter.await();
					lanes.add(record);
				}
			}
		}
		catch (IOException | MemoryLimitException ex) {
			this.stop.stop(Cause.LIMIT, "The keys to remove could not be read. " + ex.getMessage());
		}
		return false;
	}

	private void listExtra(Record record) {
		if (this.job.settings().check().verify() != null && this.extraKeys.size() < MAX_EXTRA_KEYS
				&& this.job.memory().tryTakeForReport(record.itemBytes() + KEY_BYTES)) {
			this.extraKeys.add(Objects.requireNonNull(record.key()));
		}
	}

	/** Stops the job if Redis has refused to remove a key. */
	private void stopIfRefused() {
		if (this.removals.total(Outcome.REJECTED) > 0) {
			String reason = this.removals.items()
				.stream()
				.map(Item::error)
				.map((error) -> (error != null) ? ": " + error.message() : "")
				.findFirst()
				.orElse("");
			this.stop.stop(Cause.REDIS_REFUSES, "Redis refused to UNLINK a key" + reason + ".");
		}
	}

	private void end(boolean complete) {
		Counts counts = this.removals.counts();
		this.obstacle = (this.written.failure() != null) ? this.written.failure() : this.obstacle;
		if (this.obstacle != null) {
			this.begun = false;
		}
		else if (isDryRun()) {
			Ending stopped = this.stop.ending();
			this.obstacle = (stopped != null) ? "the keys could not all be found. " + stopped.detail() : null;
			this.finished = true;
		}
		else {
			if (complete && counts.unknown() > 0) {
				this.stop.stop(Cause.REDIS_LOST, counts.unknown() + " keys may or may not have been removed.");
			}
			this.finished = complete && counts.errors() == 0;
		}
	}

	private Replaced replaced() {
		return new Replaced(this.written.kept(),
				this.removals.total((isDryRun()) ? Outcome.UNPROCESSED : Outcome.APPLIED), List.copyOf(this.extraKeys));
	}

	/** Whether keys are still to be removed, because the job was stopped meanwhile. */
	boolean isOpen() {
		return this.begun && !this.finished;
	}

	/** Whether any command was written to Redis. */
	boolean hasSent() {
		return this.removals.bytesSent() > 0;
	}

	/**
	 * Warnings of removals that the counts do not show, or of why nothing was removed.
	 */
	List<Warning> warnings() {
		List<Warning> warnings = new ArrayList<>((this.job.items() != null) ? this.job.items().removals() : List.of());
		if (this.obstacle != null) {
			warnings.add(notReplaced(this.obstacle));
		}
		return warnings;
	}

	private Warning notReplaced(String obstacle) {
		return new Warning(NOT_REPLACED, null, "No key of replace=" + this.job.settings().records().replace() + " "
				+ ((isDryRun()) ? "would be" : "was") + " removed, because " + obstacle + ".", null);
	}

	@Override
	public void close() {
		this.written.close();
	}

}
