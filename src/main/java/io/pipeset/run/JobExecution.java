package io.pipeset.run;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.engine.lane.JobMark;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.engine.pipeline.Backoff;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.slab.Loss;
import io.pipeset.engine.slab.Verification;
import io.pipeset.input.Caller;
import io.pipeset.input.Caller.Watch;
import io.pipeset.input.FailedRecord;
import io.pipeset.input.InputContext;
import io.pipeset.input.InputProgress;
import io.pipeset.input.JobInput;
import io.pipeset.input.SourceException;
import io.pipeset.keep.EarlierOutcomes;
import io.pipeset.keep.EndedJob;
import io.pipeset.keep.SpoolException;
import io.pipeset.memory.MemoryShare;
import io.pipeset.receipt.PopBudget;
import io.pipeset.record.Operation;
import io.pipeset.record.OperationFinder;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.memory.MemoryLimitException;
import io.pipeset.report.Account;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Estimate;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.Outcome;
import io.pipeset.report.OutcomeLog;
import io.pipeset.request.BodyLimitException;
import io.pipeset.request.Client;
import io.pipeset.request.JobLimits;
import io.pipeset.request.JobSettings;
import org.jspecify.annotations.Nullable;

/**
 * The run of one job in the calling thread: reads the records, rejects the invalid ones,
 * passes the others to the lanes, and waits until all have an outcome.
 */
final class JobExecution {

	private final RunningJob job;

	private final LaneContext context;

	private final JobLimits limits;

	private final Client client;

	private final Lanes lanes;

	private final Admission admission;

	private final OperationFinder operations;

	private final PopBudget pops;

	private final Record record;

	private final RateLimiter rateLimiter;

	private final @Nullable DryRun dryRun;

	private final InputProgress progress;

	/** The outcomes of the job's earlier runs; {@code null} for its first run. */
	private final @Nullable EarlierOutcomes earlier;

	private final MemoryWarnings warnings;

	private final RecordWarnings recordWarnings = new RecordWarnings();

	/** {@code null} if the job has no setting {@code replace}. */
	private final @Nullable Replacement replacement;

	/** Tells what ran; {@code null} without {@code exactlyOnce}. */
	private final @Nullable JobMark mark;

	/** Compares the records; {@code null} for a job that writes them. */
	private final @Nullable Verification verification;

	/** Whether the mark is in Redis. */
	private boolean marked;

	/** The records that an earlier run of the job ran, and whose replies are lost. */
	private long repliesLost;

	/** Whether the caller has allowed the first write. */
	private boolean mayWrite;

	/**
	 * Prepares the run.
	 * @param replacement closed at the end of the run; {@code null} for none
	 */
	JobExecution(RunningJob job, LaneContext context, JobLimits limits, Client client, Admission admission,
			OperationFinder operations, @Nullable Replacement replacement) {
		this.replacement = replacement;
		this.mark = context.mark();
		this.verification = context.verification();
		this.operations = (job.settings().check().dryRun()) ? withoutRedis(operations) : operations;
		this.client = client;
		this.job = job;
		this.context = context;
		this.limits = limits;
		this.progress = job.progress();
		JobSettings settings = job.settings();
		MemoryShare memory = job.memory();
		this.lanes = new Lanes(this.context);
		this.admission = admission;
		this.pops = new PopBudget(limits.maxPopped(), limits.maxPoppedBytes().toBytes(), this.context, this.lanes,
				memory);
		this.record = new Record(settings.records().recordDefaults(), memory);
		memory.beforeWait(this.lanes::sendBegun);
		this.rateLimiter = new RateLimiter(job.rateLimit(),
				(settings.check().dryRun()) ? null : settings.pace().maxLatency(), this.lanes, context);
		this.warnings = new MemoryWarnings(context, settings.check().dryRun());
		this.dryRun = (settings.check().dryRun()) ? new DryRun(this.context.account(), sample(settings, memory)) : null;
		this.earlier = (job.items() != null) ? job.items().earlier() : null;
	}

	private @Nullable MemorySample sample(JobSettings settings, MemoryShare memory) {
		if (!settings.check().estimate()) {
			return null;
		}
		memory.reserve(MemorySample.MAX_BYTES);
		return new MemorySample(this.job.id());
	}

	/**
	 * A dry run needs no Redis. Without Redis, only the operations of the table are
	 * known.
	 */
	private static OperationFinder withoutRedis(OperationFinder operations) {
		return (bytes, offset, length) -> {
			try {
				return operations.find(bytes, offset, length);
			}
			catch (RedisCallException ex) {
				return null;
			}
		};
	}

	EndedJob<JobReport> run(Caller caller) {
		try (Replacement lastStage = this.replacement) {
			runRecords(caller);
			if (lastStage != null) {
				lastStage.run(caller, () -> requestFirstWrite(caller));
			}
			if (this.context.account().bytesSent() > 0) {
				this.context.nodes().look();
				this.context.account().losses().master(this.context.nodes().failovers());
			}
			List<Warning> warnings = new ArrayList<>(this.job.input().warnings());
			warnings.addAll(this.recordWarnings.warnings());
			warnings.addAll(this.warnings.end());
			if (this.mark != null && this.mark.repliesLost() + this.repliesLost > 0) {
				warnings.add(new Warning("REPLIES_LOST", null,
						"These records ran, and are counted as applied, but the replies to them were lost: whether Redis"
								+ " refused one of them by an error, or it had nothing to do, is not known",
						this.mark.repliesLost() + this.repliesLost));
			}
			Estimate estimate = (this.dryRun != null && !this.context.stop().isSet())
					? this.dryRun.estimate(this.context.nodes(), warnings) : null;
			return this.job.end(estimate, lastStage, this.mark, warnings);
		}
	}

	private void runRecords(Caller caller) {
		long began = System.nanoTime();
		if (this.context.nodes().isCluster()) {
			this.context.account().losses().ofSeveralMasters();
		}
		this.context.account().losses().master(this.context.nodes().failovers());
		JobInput input = this.job.input();
		// Reading an upload without a rate limit detects that the caller is gone. Other
		// input may not be read for long, so watch the connection.
		boolean watches = this.job.isSlow() || !input.isUploaded();
		Watch watch = ((watches) ? caller : Caller.SERVICE)
			.watch(() -> this.context.stop().stop(Cause.CANCELLED, Caller.GONE));
		try {
			this.rateLimiter.open();
			if (!this.context.stop().isSet()) {
				input.open(inputContext(caller), (records) -> read(records, input, caller));
			}
		}
		catch (RuntimeException | Error ex) {
			this.lanes.crashed(ex);
		}
		finally {
			watch.end();
			countUnread(input);
			end(began);
		}
	}

	private InputContext inputContext(Caller caller) {
		MemoryShare memory = this.job.memory();
		return new InputContext(this.job.id(), caller, this.lanes, this.context, memory,
				this.job.settings().records().operation(), this.job.settings().records().mapping(),
				this.limits.ofRecords(memory, this.context.nodes().database(), this.operations),
				this.limits.ofInflatedBodies().and(this.client.ofBodies()));
	}

	/** Counts the generated records that were not read. */
	private void countUnread(JobInput input) {
		JobSettings settings = this.job.settings();
		Operation operation = settings.records().operation();
		long unread = this.progress.countUnread((settings.records().untilEmpty()) ? 0 : input.generated());
		this.context.account()
			.count((operation != null) ? operation.toString() : Account.NO_OPERATION, Outcome.UNPROCESSED, unread);
		this.context.account().errorCodes().add(Loss.NOT_SENT, unread);
	}

	private void end(long beganNanos) {
		if (this.context.settings().atomic() && this.mark == null && !this.progress.isComplete()) {
			// An incomplete transaction at the end of a broken input is not sent.
			this.lanes.discard();
		}
		try {
			this.lanes.drain();
		}
		finally {
			this.lanes.close();
		}
		this.rateLimiter.close();
		this.pops.end();
		if (this.mark != null) {
			this.mark.end(this.progress.isComplete(), this.context.account().total(Outcome.UNKNOWN) == 0);
			this.context.account().lose(this.mark.lostRecords(), Loss.DATA_LOST);
		}
		endEarlier();
		if (this.verification != null) {
			lookAgain(this.verification);
			this.verification.end(this.context.account());
		}
		if (this.dryRun != null) {
			this.dryRun.end();
		}
		this.context.clock().waited(this.rateLimiter.waitedNanos());
		this.context.clock()
			.read(System.nanoTime() - beganNanos - this.lanes.blockedNanos() - this.rateLimiter.waitedNanos());
	}

	/** Reads the records that differ once more. */
	private void lookAgain(Verification verification) {
		if (this.context.stop().isSet() || !this.progress.isComplete()) {
			return;
		}
		LaneContext context = this.context.ofOtherCommands(verification);
		Lanes again = new Lanes(context);
		this.job.memory().beforeWait(again::sendBegun);
		Record second = new Record(RecordDefaults.NONE, this.job.memory());
		RateLimiter pace = new RateLimiter(this.job.rateLimit(), this.job.settings().pace().maxLatency(), again,
				context);
		try {
			pace.open();
			verification.lookAgain(second, () -> {
				pace.await();
				again.add(second);
			});
		}
		catch (MemoryLimitException ex) {
			// What was not read again stays as it was found first.
		}
		catch (RuntimeException | Error ex) {
			again.crashed(ex);
		}
		finally {
			again.drain();
			again.close();
			pace.close();
		}
	}

	private void endEarlier() {
		if (this.earlier == null) {
			return;
		}
		try {
			this.progress.setRead(this.earlier.end(this.progress.read(), this.context.account()));
		}
		catch (IOException ex) {
			this.context.stop().becauseOfDefect(ex);
		}
	}

	private void read(RecordReader records, JobInput input, Caller caller) {
		Long declared = input.declared();
		Long limit = input.limit();
		Account account = this.context.account();
		try {
			while (!this.context.stop().isSet()) {
				boolean full = limit != null && this.progress.read() == limit;
				if (full || account.isEmpty() || !records.read(this.record)) {
					this.progress.complete();
					break;
				}
				if (declared != null && this.progress.read() == declared) {
					this.progress.countMismatch(declared, "more, of which nothing was sent");
					return;
				}
				this.client.requireNextRecord(this.progress.read());
				this.progress.countRead();
				if (!settleFromEarlierRun() && !process(caller)) {
					this.progress.uncountLast();
					return;
				}
			}
			if (this.progress.isComplete() && declared != null && this.progress.read() < declared) {
				this.progress.countMismatch(declared, "only " + this.progress.read() + ", all of which were sent");
			}
		}
		catch (MalformedBodyException ex) {
			this.progress.malformed(ex, input.noun());
		}
		catch (BodyLimitException ex) {
			this.progress.tooLarge(ex);
		}
		catch (MemoryLimitException ex) {
			this.progress.outOfMemory(ex);
		}
		catch (RedisCallException ex) {
			// Redis could not be asked about an operation of the body.
			this.context.stop().stop(Cause.REDIS_UNREACHABLE, String.valueOf(ex.getMessage()));
		}
		catch (SocketTimeoutException ex) {
			this.progress.stalled(this.limits.bodyIdleTimeout());
		}
		catch (SpoolException ex) {
			this.progress.unreadable(ex);
		}
		catch (SourceException ex) {
			this.progress.sourceFailed(ex);
		}
		catch (IOException ex) {
			this.progress.brokeOff(ex);
		}
	}

	/** Counts the outcome of the record in an earlier run, if it has one. */
	private boolean settleFromEarlierRun() throws IOException {
		if (this.earlier != null && this.mark != null) {
			return this.earlier.settlesRejected(this.record, this.context.account(),
					this.admission.isKeyListable(this.record));
		}
		boolean settled = this.earlier != null
				&& this.earlier.settles(this.record, this.context.account(), this.admission.isKeyListable(this.record));
		if (settled && this.replacement != null) {
			this.replacement.addEarlier(this.record);
		}
		return settled;
	}

	/**
	 * Rejects or sends the record just read.
	 * @return {@code false} if the job must end before this record
	 */
	private boolean process(Caller caller) {
		boolean malformed = this.record.rejection() != null;
		Rejection rejection = this.admission.refuse(this.record);
		if (rejection != null) {
			reject(rejection, malformed);
			return true;
		}
		if (this.record.isWarnedOf()) {
			this.recordWarnings.add(this.record);
		}
		if (this.replacement != null) {
			this.replacement.add(this.record);
		}
		if (this.dryRun != null) {
			this.dryRun.add(this.record);
			return true;
		}
		if (this.mark != null) {
			if (!this.marked && !begin(this.mark)) {
				return false;
			}
			if (this.mark.hasRun(this.record)) {
				countRun();
				return true;
			}
			if (this.context.stop().isSet()) {
				return false;
			}
		}
		if (!requestFirstWrite(caller) || (this.verification == null && !this.pops.admits(this.record))) {
			return false;
		}
		this.rateLimiter.await();
		try {
			this.lanes.add(this.record);
		}
		catch (MemoryLimitException ex) {
			if (this.context.stop().isSet()) {
				return false;
			}
			reject(new Rejection(Rejection.TOO_LARGE, String.valueOf(ex.getMessage())), false);
		}
		return true;
	}

	/** Creates the mark before the first record is sent; {@code false} if it cannot. */
	private boolean begin(JobMark mark) {
		try {
			this.marked = new Backoff(this.context.settings().timeout(), this.context.stop())
				.ask(() -> mark.begin(this.record), RedisCallException::isTransient);
			return this.marked;
		}
		catch (RedisCallException ex) {
			this.context.stop()
				.stop((ex.isRefusal()) ? Cause.REDIS_REFUSES : Cause.REDIS_UNREACHABLE,
						"The mark of the job, which exactlyOnce needs, could not be written. " + ex.getMessage());
			return false;
		}
	}

	/** Counts a record that ran in an earlier run of the job. */
	private void countRun() {
		Outcome known = (this.earlier != null) ? this.earlier.ran() : null;
		Outcome outcome = (known != null) ? known : Outcome.APPLIED;
		this.repliesLost += (known != null) ? 0 : 1;
		this.context.account().countEarlier(this.record.operation().toString(), outcome, 1);
		OutcomeLog log = this.context.account().log();
		if (log != null && known == null) {
			log.ran(this.record.index(), false);
		}
	}

	/** Asks the caller once whether the job may write; if not, stops the job. */
	private boolean requestFirstWrite(Caller caller) {
		if (!this.mayWrite) {
			Ending refused = caller.beforeFirstWrite();
			if (refused != null) {
				this.context.stop().stop(refused.cause(), refused.detail());
				return false;
			}
			this.mayWrite = true;
		}
		return true;
	}

	private void reject(Rejection rejection, boolean malformed) {
		Account account = this.context.account();
		String operation = (this.record.hasOperation()) ? this.record.operation().toString() : null;
		// A resumed record may have run before the limits were lowered.
		Outcome outcome = (this.record.mayHaveRun()) ? Outcome.UNKNOWN : Outcome.REJECTED;
		account.count((operation != null) ? operation : Account.NO_OPERATION, outcome, 1);
		Failure failure = new Failure(rejection.code(), rejection.message(), false);
		OutcomeLog log = account.log();
		if (log != null) {
			log.failed(this.record.index(), outcome, failure);
		}
		FailedRecord.list(this.record, outcome, failure, account, this.admission.isKeyListable(this.record), malformed);
		this.context.errorCheck().run();
	}

}
