package io.pipeset.receipt;

import java.util.ArrayDeque;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.function.Supplier;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneSettings;
import io.pipeset.engine.lane.LostPopResolver;
import io.pipeset.engine.pipeline.Backoff;
import io.pipeset.engine.pipeline.StopSignal;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.slab.Slab;
import io.pipeset.record.GeneratedRecords;
import io.pipeset.record.RecordReader;
import io.pipeset.report.Account;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.Outcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The receipt of a job that pops reliably, from before its first pop until its caller can
 * acknowledge it. If the report may lack popped values, the receipt is not handed over,
 * and the values go back to their list at the deadline.
 */
public final class PopReceipt implements LostPopResolver {

	private static final Logger logger = LoggerFactory.getLogger(PopReceipt.class);

	private final Receipts receipts;

	private final String jobId;

	private final ReliablePops pops;

	private final LaneSettings settings;

	private final JobStop stop;

	private boolean opened;

	/**
	 * Prepares a receipt; {@link #open} creates it in Redis.
	 * @param settings the timeout and retries of calls
	 * @param stop stops the job if the receipt fails
	 */
	public PopReceipt(Receipts receipts, String jobId, ReliablePops pops, LaneSettings settings, JobStop stop) {
		this.receipts = receipts;
		this.jobId = jobId;
		this.pops = pops;
		this.settings = settings;
		this.stop = stop;
	}

	/** Creates the receipt in Redis, or stops the job. */
	public void open() {
		if (this.pops.count() == 0) {
			return;
		}
		try {
			byte[] key = this.pops.keyBytes();
			this.opened = callWithRetries(() -> open(key), this.settings.retries() > 0);
		}
		catch (RedisCallException ex) {
			this.stop.stop((ex.isRefusal()) ? Cause.REDIS_REFUSES : Cause.REDIS_UNREACHABLE,
					"The receipt could not be created, so that no value was popped. " + ex.getMessage());
		}
	}

	private boolean open(byte[] key) {
		this.receipts.open(this.jobId, this.pops.client(), key, this.pops.receiptTtl());
		return true;
	}

	@Override
	public boolean resolve(List<Slab> left, long settled) {
		long known = settled + left.stream().mapToLong(Slab::values).sum();
		try {
			List<byte[]> found = callWithRetries(() -> this.receipts.found(this.jobId, known), true);
			if (found == null) {
				stopBecauseGone();
				return false;
			}
			Queue<byte[]> values = new ArrayDeque<>(found);
			left.forEach((slab) -> slab.resolve(values));
			return true;
		}
		catch (RedisCallException ex) {
			logger.debug("The popped values could not be read", ex);
			return false;
		}
	}

	/**
	 * Hands the receipt over to the caller, if its values are exactly those of the
	 * report.
	 * @return the receipt; {@code null} if there is nothing to acknowledge
	 */
	public @Nullable Receipt handOver(Account account) {
		if (!this.opened || account.total(Outcome.UNKNOWN) > 0) {
			return null;
		}
		if (account.taken().count() == 0) {
			drop();
			return null;
		}
		try {
			OptionalLong deadline = callWithRetries(
					() -> this.receipts.handOver(this.jobId, this.pops.receiptTtl(), account.taken().count()), true);
			if (deadline.isPresent()) {
				return new Receipt(deadline.getAsLong());
			}
			stopBecauseGone();
		}
		catch (RedisCallException ex) {
			this.stop.stop(Cause.REDIS_LOST, "The receipt could not be handed over, so that the popped values go"
					+ " back to their list when receiptTtl is over. " + ex.getMessage());
		}
		return null;
	}

	/** Deletes an empty receipt. If that fails, sweepers delete it later. */
	private void drop() {
		try {
			this.receipts.drop(this.jobId);
		}
		catch (RedisCallException ex) {
			logger.debug("Job {}: its receipt without values stays until its deadline", this.jobId, ex);
		}
	}

	/** Creates a lost receipt again, so that its values go back to their list. */
	private void recover() {
		byte[] key = this.pops.keyBytes();
		try {
			callWithRetries(() -> {
				this.receipts.recover(this.jobId, this.pops.client(), key);
				return true;
			}, true);
		}
		catch (RedisCallException ex) {
			logger.debug("Job {}: its receipt could not be recovered", this.jobId, ex);
		}
	}

	/**
	 * The records of the job: each moves a value from the list of the caller to the list
	 * of the receipt.
	 * @return one record for each value that may be popped
	 */
	public RecordReader moves() {
		return GeneratedRecords.moves(this.pops.key(), this.receipts.listOf(this.jobId), this.pops.count());
	}

	private void stopBecauseGone() {
		recover();
		this.stop.stop(Cause.STOPPED,
				"The receipt or some of its values were gone before the job ended, probably because it took longer than"
						+ " receiptTtl=" + DurationText.of(this.pops.receiptTtl())
						+ ", or because a master was replaced that had not replicated its last writes: the popped values"
						+ " are back in their list, or go back soon. Pop again, if necessary with a longer receiptTtl.");
	}

	/**
	 * Calls Redis, and repeats the call within the job's timeout while Redis cannot
	 * reply, even if the job is stopped, because the job must know the values that it
	 * popped.
	 * @param afterLoss whether to repeat the call after a lost connection as well
	 */
	private <T extends @Nullable Object> T callWithRetries(Supplier<T> call, boolean afterLoss) {
		return new Backoff(this.settings.timeout(), StopSignal.NEVER).ask(call,
				(ex) -> (afterLoss ? ex.isTransient() : ex.isRedirected()) && !this.stop.isShuttingDown());
	}

}
