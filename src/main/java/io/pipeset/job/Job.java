package io.pipeset.job;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.util.Map;
import java.util.Objects;

import io.pipeset.control.Receipts;
import io.pipeset.record.GeneratedRecords;
import io.pipeset.record.MalformedBodyException;
import io.pipeset.record.NoRoomException;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Item;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.Outcome;
import io.pipeset.report.Timings;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One job, run by the thread that asks for it: reads the records, refuses the bad ones,
 * hands the good ones to the lanes, and draws up the account when all have come back.
 */
final class Job {

	private static final Logger logger = LoggerFactory.getLogger(Job.class);

	private final String id;

	private final JobContext context;

	private final JobLimits limits;

	private final Scripts scripts;

	private final Lanes lanes;

	private final ArgumentLimits arguments;

	private final PopBudget pops;

	private final Record record;

	private final @Nullable Pace pace;

	private final @Nullable DryRun dryRun;

	private long read;

	/** Records that are generated, and were not. */
	private long unread;

	/** What readers read, for messages. */
	private String body = "body";

	private Ending inputEnding = Ending.COMPLETED;

	private boolean inputComplete;

	private @Nullable Long byteOffset;

	Job(String id, JobContext context, JobLimits limits, Scripts scripts) {
		this.id = id;
		this.context = context;
		this.limits = limits;
		this.scripts = scripts;
		this.lanes = new Lanes(context);
		this.arguments = new ArgumentLimits(limits);
		this.pops = new PopBudget(limits, context, this.lanes);
		this.record = new Record(context.settings().recordDefaults(), context.memory());
		context.memory().beforeWait(this.lanes::sendBegun);
		Long rateLimit = context.settings().rateLimit();
		this.pace = (rateLimit != null) ? new Pace(rateLimit, this.lanes, context.stop()) : null;
		this.dryRun = (context.settings().dryRun()) ? new DryRun(context.account()) : null;
	}

	JobReport run(JobInput input) {
		long began = System.nanoTime();
		try {
			read(input);
		}
		catch (RuntimeException | Error ex) {
			this.lanes.crashed(ex);
		}
		finally {
			if (this.context.settings().isAtomic() && !this.inputComplete) {
				// Where the input breaks off, so does the transaction that it was in.
				this.lanes.discard();
			}
			try {
				this.lanes.drain();
			}
			finally {
				this.lanes.close();
			}
			this.pops.end();
			if (this.dryRun != null) {
				this.dryRun.end();
			}
			long paced = (this.pace != null) ? this.pace.waitedNanos() : 0;
			this.context.clock().waited(paced);
			this.context.clock().read(System.nanoTime() - began - this.lanes.blockedNanos() - paced);
		}
		return report();
	}

	private void read(JobInput input) {
		if (input instanceof JobInput.Generated generated) {
			read(generated.records(), generated.count());
		}
		else if (input instanceof JobInput.ReliablePops pops) {
			Objects.requireNonNull(this.context.receipt()).open();
			read(GeneratedRecords.moves(pops.key(), Receipts.listOf(this.id), pops.count()), pops.count());
		}
		else if (input instanceof JobInput.Uploaded uploaded) {
			StoppedUpload stopped = new StoppedUpload(this.context, uploaded.end());
			try {
				read(uploaded);
			}
			finally {
				stopped.end();
			}
		}
	}

	private void read(JobInput.Uploaded uploaded) {
		LendingInputStream body = new LendingInputStream(uploaded.body(), this.lanes, this.context);
		if (uploaded.gzipped()) {
			this.body = "inflated body";
			try (GzipBody inflated = new GzipBody(body, this.limits.maxInflatedBytes().toBytes())) {
				read(uploaded, inflated);
			}
		}
		else {
			read(uploaded, body);
		}
	}

	/** Generates records, and counts those that the job did not come to. */
	private void read(RecordReader generated, long count) {
		try {
			read(generated, null);
		}
		finally {
			Operation operation = this.context.settings().operation();
			this.unread = count - this.read;
			this.context.account()
				.count((operation != null) ? operation.name() : Account.NO_OPERATION, Outcome.UNPROCESSED, this.unread);
		}
	}

	private void read(JobInput.Uploaded uploaded, InputStream body) {
		read(uploaded.format()
			.open(body, this.context.settings().operation(), this.limits.ofRecords(this.context.memory())),
				uploaded.declared());
	}

	private void read(RecordReader records, @Nullable Long declared) {
		try {
			while (!this.context.stop().isSet()) {
				if (!records.read(this.record)) {
					this.inputComplete = true;
					break;
				}
				if (declared != null && this.read == declared) {
					countMismatch(declared, "more, of which nothing was sent");
					return;
				}
				this.read++;
				if (!take()) {
					this.read--;
					return;
				}
			}
			if (this.inputComplete && declared != null && this.read < declared) {
				countMismatch(declared, "only " + this.read + ", all of which were sent");
			}
		}
		catch (MalformedBodyException ex) {
			this.byteOffset = ex.byteOffset();
			this.inputEnding = new Ending(Cause.MALFORMED_BODY, "At byte " + ex.byteOffset() + " of the "
					+ ((ex.isCompressed()) ? "compressed body" : this.body) + ": " + ex.getMessage());
		}
		catch (BodyLimitException ex) {
			this.inputEnding = new Ending(Cause.LIMIT, String.valueOf(ex.getMessage()));
		}
		catch (NoRoomException ex) {
			this.inputEnding = new Ending(Cause.LIMIT, "Record " + this.read + " cannot be read: " + ex.getMessage());
		}
		catch (SocketTimeoutException ex) {
			this.inputEnding = new Ending(Cause.STALLED,
					"Nothing of the body came for " + JobSettings.text(this.limits.bodyIdleTimeout())
							+ " (pipeset.limits.body-idle-timeout); " + this.read + " records had been read, and ran");
		}
		catch (IOException ex) {
			this.inputEnding = new Ending(Cause.CANCELLED,
					"The caller went away during its upload: " + ex.getMessage());
		}
	}

	/** Deals with the record just read; {@code false} ends the job without it. */
	private boolean take() {
		if (this.record.rejection() == null) {
			this.context.settings().admit(this.record);
		}
		if (this.record.rejection() == null) {
			this.scripts.admit(this.record);
		}
		Rejection rejection = this.record.rejection();
		if (rejection == null) {
			rejection = this.arguments.refuse(this.record);
		}
		if (rejection != null) {
			reject(rejection);
			return true;
		}
		if (this.dryRun != null) {
			this.dryRun.take(this.record);
			return true;
		}
		if (!this.pops.admits(this.record)) {
			return false;
		}
		if (this.pace != null) {
			this.pace.await();
		}
		try {
			this.lanes.add(this.record);
		}
		catch (NoRoomException ex) {
			if (this.context.stop().isSet()) {
				return false;
			}
			reject(new Rejection(Rejection.TOO_LARGE, String.valueOf(ex.getMessage())));
		}
		return true;
	}

	private void reject(Rejection rejection) {
		Account account = this.context.account();
		String operation = (this.record.hasOperation()) ? this.record.operation().name() : null;
		account.count((operation != null) ? operation : Account.NO_OPERATION, Outcome.REJECTED, 1);
		boolean keyed = this.arguments.isKeyListable(this.record);
		long bytes = rejection.message().length() + ((keyed) ? this.record.itemBytes() : 0);
		if (account.claimItem(Outcome.REJECTED, bytes)) {
			account.list(new Item(this.record.index(), (this.record.line() > 0) ? this.record.line() : null,
					this.record.id(), operation, (keyed) ? this.record.key() : null, Outcome.REJECTED,
					new Failure(rejection.code(), rejection.message(), false), null));
		}
		this.context.checkErrors();
	}

	private void countMismatch(long declared, String found) {
		this.inputEnding = new Ending(Cause.COUNT_MISMATCH,
				"The path declares " + declared + " records, and the body has " + found);
	}

	/**
	 * Sees to it that every record has an outcome: one of which nothing is known, by a
	 * defect, may have run.
	 */
	private void balance(long received) {
		Account account = this.context.account();
		long accounted = account.counts().received();
		if (accounted != received) {
			String detail = "The account has outcomes for " + accounted + " of " + received
					+ " records, by a defect of the service; the others are counted as unknown";
			logger.error("Job {}: {}", this.id, detail);
			this.context.stop().because(Cause.INTERNAL_SERVER_ERROR, detail);
			account.count(Account.NO_OPERATION, Outcome.UNKNOWN, received - accounted);
		}
	}

	private JobReport report() {
		balance(this.read + this.unread);
		Account account = this.context.account();
		Counts counts = account.counts();
		PopReceipt pops = this.context.receipt();
		Receipt receipt = (pops != null) ? pops.handOver(account) : null;
		Map<String, Object> settings = this.context.settings().toReport();
		if (pops != null) {
			pops.addTo(settings);
		}
		Ending ending = JobEnding.of(this.context.stop().ending(), this.inputEnding, counts.unknown(),
				account.bytesSent() > 0);
		Timings timings = this.context.clock().timings();
		return new JobReport(this.id, ending, counts, this.inputComplete, (this.inputComplete) ? null : this.read,
				account.fenced(), this.byteOffset, timings,
				Math.round(account.replied() * 1000 / Math.max(timings.totalMillis(), 0.001)), account.bytesSent(),
				settings, account.values(), receipt, account.items(), account.itemsOmitted(), this.dryRun != null);
	}

}
