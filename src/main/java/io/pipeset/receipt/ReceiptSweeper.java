package io.pipeset.receipt;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.slab.Redirect;
import io.pipeset.engine.slab.Redirect.Kind;
import io.pipeset.receipt.Receipts.Answer;
import io.pipeset.receipt.Receipts.Returned;
import io.pipeset.receipt.UsedSlots.UsedSlot;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/**
 * Gives back the values of expired receipts of all instances, and finishes receipts that
 * another instance has begun to give back.
 */
@Component
@EnableConfigurationProperties(ReceiptProperties.class)
class ReceiptSweeper implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(ReceiptSweeper.class);

	private static final long STOP_TIMEOUT_MILLIS = 1000;

	/** The most receipts of a slot that one sweep gives back. */
	private static final int MAX_RECEIPTS = 100;

	/** How long a receipt is postponed if Redis refuses to give it back. */
	private static final Duration POSTPONE_TIME = Duration.ofMinutes(1);

	/** How long this instance skips a receipt if Redis refuses to postpone it as well. */
	private static final Duration SKIP_TIME = Duration.ofSeconds(10);

	private final Receipts receipts;

	private final long intervalMillis;

	private volatile @Nullable ScheduledThreadPoolExecutor executor;

	/**
	 * Receipts that Redis neither gave back nor postponed, each with the
	 * {@link System#nanoTime} until which it is skipped.
	 */
	private final Map<String, Long> skippedUntil = new HashMap<>();

	/** The error code of the last sweep, so that it is not logged again. */
	private @Nullable String loggedCode;

	ReceiptSweeper(Receipts receipts, ReceiptProperties properties) {
		this.receipts = receipts;
		this.intervalMillis = properties.sweepInterval().toMillis();
	}

	@Override
	public void start() {
		CustomizableThreadFactory thread = new CustomizableThreadFactory("receipts-");
		thread.setDaemon(true);
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, thread);
		executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
		// The first sweep checks whether this is running.
		this.executor = executor;
		ScheduledFuture<?> unused = executor.scheduleWithFixedDelay(this::sweep, 0, this.intervalMillis,
				TimeUnit.MILLISECONDS);
	}

	@Override
	public void stop() {
		ScheduledThreadPoolExecutor executor = this.executor;
		this.executor = null;
		if (executor != null) {
			executor.shutdown();
			try {
				executor.awaitTermination(STOP_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			executor.shutdownNow();
		}
	}

	@Override
	public boolean isRunning() {
		return this.executor != null;
	}

	private void sweep() {
		try {
			long now = System.nanoTime();
			this.skippedUntil.values().removeIf((until) -> now - until > 0);
			RedisCallException failure = null;
			Set<String> unavailable = new HashSet<>();
			for (UsedSlot slot : this.receipts.dueSlots()) {
				if (isRunning()) {
					RedisCallException failed = trySweep(slot, unavailable);
					failure = (failed != null) ? failed : failure;
				}
			}
			if (failure != null) {
				throw failure;
			}
			this.loggedCode = null;
		}
		catch (RedisCallException ex) {
			failed(ex);
		}
		catch (RuntimeException | Error ex) {
			// The next sweep tries again.
			if (isRunning()) {
				logger.error("Expired receipts could not be given back", ex);
			}
		}
	}

	/**
	 * Sweeps one slot; a failure does not prevent the sweep of other slots. A master that
	 * does not reply, or serves no slot now, is called once a sweep.
	 * @return the failure; {@code null} if there was none
	 */
	private @Nullable RedisCallException trySweep(UsedSlot slot, Set<String> unavailable) {
		String master = "";
		try {
			master = this.receipts.master(slot);
			if (!unavailable.contains(master)) {
				sweep(slot);
			}
			return null;
		}
		catch (RedisCallException ex) {
			if (ex.code() == null || isUnavailable(ex)) {
				unavailable.add(master);
			}
			return ex;
		}
	}

	/**
	 * Whether a master is loading its data, or its cluster is down, so that calls for its
	 * other slots would fail as well.
	 */
	private static boolean isUnavailable(RedisCallException ex) {
		Redirect redirect = ex.redirect();
		return redirect != null && redirect.kind() == Kind.WAIT
				&& !String.valueOf(ex.getMessage()).contains("Hash slot not served");
	}

	private void sweep(UsedSlot slot) {
		boolean refused = false;
		for (String jobId : this.receipts.dueJobs(slot, MAX_RECEIPTS + this.skippedUntil.size())) {
			if (isRunning() && !this.skippedUntil.containsKey(jobId)) {
				refused |= !tryGiveBack(slot, jobId, (refused) ? Level.DEBUG : Level.WARN);
			}
		}
	}

	/**
	 * Gives a receipt back if it is still due. If Redis refuses, the receipt is
	 * postponed.
	 * @return {@code false} if Redis refuses
	 */
	private boolean tryGiveBack(UsedSlot slot, String jobId, Level level) {
		try {
			giveBack(slot, jobId);
			return true;
		}
		catch (RedisCallException ex) {
			if (ex.isTransient()) {
				throw ex;
			}
			Duration delay = postpone(slot, jobId);
			logger.atLevel(level)
				.addKeyValue("jobId", jobId)
				.log("Job {}: its popped values cannot be given back, nor perhaps those of other jobs; next attempt in {} s: {}",
						jobId, delay.toSeconds(), ex.getMessage());
			return false;
		}
	}

	/** Postpones a receipt, or skips it for some time if Redis refuses that. */
	private Duration postpone(UsedSlot slot, String jobId) {
		try {
			this.receipts.postpone(slot, jobId, POSTPONE_TIME);
			return POSTPONE_TIME;
		}
		catch (RedisCallException ex) {
			if (ex.isTransient()) {
				throw ex;
			}
			this.skippedUntil.put(jobId, System.nanoTime() + SKIP_TIME.toNanos());
			return SKIP_TIME;
		}
	}

	private void giveBack(UsedSlot slot, String jobId) {
		Returned returned = this.receipts.giveBackIfDue(slot, jobId);
		if (returned.values() > 0) {
			logger.atInfo()
				.addKeyValue("jobId", jobId)
				.log("Job {}: its receipt expired, and {} values went back to their list", jobId, returned.values());
		}
		if (returned.answer() == Answer.BLOCKED) {
			logger.atWarn()
				.addKeyValue("jobId", jobId)
				.log("Job {}: its popped values cannot be given back, because their key has another type than list: rename or delete this key",
						jobId);
		}
	}

	private void failed(RedisCallException ex) {
		if (ex.code() == null || !isRunning()) {
			// The health endpoint reports it as well.
			logger.debug("Redis cannot be reached to give expired receipts back", ex);
		}
		else if (!ex.code().equals(this.loggedCode)) {
			this.loggedCode = ex.code();
			logger.warn("Expired receipts cannot be given back: {}", ex.getMessage());
		}
	}

}
