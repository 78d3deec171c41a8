package io.pipeset.job;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.pipeset.control.Receipts;
import io.pipeset.job.JobInput.ReliablePops;
import io.pipeset.pipeline.RedisCallException;
import io.pipeset.report.Account;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobReport.Receipt;
import io.pipeset.report.Outcome;
import io.pipeset.slab.Slab;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The receipt of a job that pops reliably, from before its first pop until its caller can
 * acknowledge it. Where anything about it is in doubt it is not handed over, and the
 * values go back to their list at the deadline.
 */
final class PopReceipt {

	private static final Logger logger = LoggerFactory.getLogger(PopReceipt.class);

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final Receipts receipts;

	private final String jobId;

	private final ReliablePops pops;

	private final JobSettings settings;

	private final JobStop stop;

	private boolean opened;

	PopReceipt(Receipts receipts, String jobId, ReliablePops pops, JobSettings settings, JobStop stop) {
		this.receipts = receipts;
		this.jobId = jobId;
		this.pops = pops;
		this.settings = settings;
		this.stop = stop;
	}

	/** Records the receipt, or stops the job. */
	void open() {
		if (this.pops.count() == 0) {
			return;
		}
		try {
			byte[] key = this.pops.key().getBytes(StandardCharsets.UTF_8);
			this.opened = (this.settings.retries() == 0) ? open(key) : ask(() -> open(key));
		}
		catch (RedisCallException ex) {
			this.stop.because((ex.code() != null) ? Cause.REDIS_REFUSES : Cause.REDIS_UNREACHABLE,
					"The receipt could not be recorded, and so nothing was popped. " + ex.getMessage());
		}
	}

	private boolean open(byte[] key) {
		this.receipts.open(this.jobId, key, this.pops.receiptTtl());
		return true;
	}

	/**
	 * Finds out what became of pops whose answers were lost, once none of them can run
	 * any more.
	 * @param left what came back from the lost connection, in the order in which it was
	 * sent
	 * @param settled the values that are in the account already
	 * @return {@code false} where it cannot be found out
	 */
	boolean resolve(List<Slab> left, long settled) {
		long known = settled + left.stream().mapToLong(Slab::values).sum();
		try {
			List<byte[]> found = ask(() -> this.receipts.found(this.jobId, known));
			if (found == null) {
				stopGone();
				return false;
			}
			Queue<byte[]> values = new ArrayDeque<>(found);
			left.forEach((slab) -> slab.resolve(values));
			return true;
		}
		catch (RedisCallException ex) {
			logger.debug("What was popped could not be read", ex);
			return false;
		}
	}

	/**
	 * Hands the receipt over to the caller, if its values are exactly those in the
	 * account.
	 * @return the receipt, or {@code null} where there is nothing to acknowledge
	 */
	@Nullable Receipt handOver(Account account) {
		if (!this.opened || account.total(Outcome.UNKNOWN) > 0) {
			return null;
		}
		if (account.taken() == 0) {
			drop();
			return null;
		}
		try {
			OptionalLong deadline = ask(
					() -> this.receipts.handOver(this.jobId, this.pops.receiptTtl(), account.taken()));
			if (deadline.isPresent()) {
				return new Receipt(deadline.getAsLong());
			}
			stopGone();
		}
		catch (RedisCallException ex) {
			this.stop.because(Cause.REDIS_LOST, "The receipt could not be handed over, so that what was popped goes"
					+ " back to its list when receiptTtl is over. " + ex.getMessage());
		}
		return null;
	}

	/** Forgets the receipt for nothing; what stays is forgotten at its deadline. */
	private void drop() {
		try {
			this.receipts.drop(this.jobId);
		}
		catch (RedisCallException ex) {
			logger.debug("Job {}: its receipt for nothing stays until its deadline", this.jobId, ex);
		}
	}

	/** Adds the settings that only such a job has. */
	void addTo(Map<String, Object> report) {
		report.put("reliable", true);
		report.put("receiptTtl", JobSettings.text(this.pops.receiptTtl()));
	}

	private void stopGone() {
		this.stop.because(Cause.STOPPED,
				"The receipt was gone before the job was done, most likely because it took longer than receiptTtl="
						+ JobSettings.text(this.pops.receiptTtl())
						+ ": what it popped is back in its list, or on its way there. Pop again with a longer one.");
	}

	/**
	 * Asks Redis what may be asked again, and again for as long as the job's timeout: a
	 * job that is at its end still has to know what it popped.
	 */
	private <T extends @Nullable Object> T ask(Supplier<T> call) {
		long deadline = System.nanoTime() + this.settings.timeout().toNanos();
		while (true) {
			try {
				return call.get();
			}
			catch (RedisCallException ex) {
				if (!ex.isPassing() || System.nanoTime() > deadline || this.stop.isShuttingDown() || !pause()) {
					throw ex;
				}
			}
		}
	}

	/** Pauses, be the job stopped or not; {@code false} where the thread is to end. */
	private static boolean pause() {
		LockSupport.parkNanos(PAUSE_NANOS);
		return !Thread.currentThread().isInterrupted();
	}

}
