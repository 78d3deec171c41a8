package io.pipeset.control;

import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.pipeset.control.Receipts.Answer;
import io.pipeset.control.Receipts.Returned;
import io.pipeset.pipeline.RedisCallException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/**
 * Gives back the values of receipts whose deadline has passed, whichever instance wrote
 * them, and finishes what another one has begun.
 */
@Component
class ReceiptSweeper implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(ReceiptSweeper.class);

	private static final long END_MILLIS = 1000;

	private static final int AT_ONCE = 100;

	private final Receipts receipts;

	private final long pauseMillis;

	private volatile @Nullable ScheduledThreadPoolExecutor executor;

	/** What Redis said last time, so that it is not logged each time. */
	private @Nullable String refusal;

	ReceiptSweeper(Receipts receipts, ReceiptProperties properties) {
		this.receipts = receipts;
		this.pauseMillis = properties.sweepInterval().toMillis();
	}

	@Override
	public void start() {
		CustomizableThreadFactory thread = new CustomizableThreadFactory("receipts-");
		thread.setDaemon(true);
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, thread);
		executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
		ScheduledFuture<?> unused = executor.scheduleWithFixedDelay(this::sweep, 0, this.pauseMillis,
				TimeUnit.MILLISECONDS);
		this.executor = executor;
	}

	@Override
	public void stop() {
		ScheduledThreadPoolExecutor executor = this.executor;
		this.executor = null;
		if (executor != null) {
			executor.shutdown();
			try {
				executor.awaitTermination(END_MILLIS, TimeUnit.MILLISECONDS);
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
			List<String> due = this.receipts.due(AT_ONCE);
			for (String jobId : due) {
				if (isRunning()) {
					giveBack(jobId);
				}
			}
			this.refusal = null;
		}
		catch (RedisCallException ex) {
			failed(ex);
		}
		catch (RuntimeException ex) {
			if (isRunning()) {
				logger.error("Receipts could not be looked after", ex);
			}
		}
	}

	private void giveBack(String jobId) {
		Returned returned = this.receipts.giveBackIfDue(jobId);
		if (returned.values() > 0) {
			logger.atInfo()
				.addKeyValue("jobId", jobId)
				.log("Job {}: its receipt expired, and {} values went back to their list", jobId, returned.values());
		}
		if (returned.answer() == Answer.BLOCKED) {
			logger.atWarn()
				.addKeyValue("jobId", jobId)
				.log("Job {}: its values cannot go back, as their key holds no list; rename or delete what it holds",
						jobId);
		}
	}

	private void failed(RedisCallException ex) {
		if (ex.code() == null || !isRunning()) {
			// Health says it too, and it goes on when Redis is back.
			logger.debug("Receipts cannot be looked after", ex);
		}
		else if (!ex.code().equals(this.refusal)) {
			this.refusal = ex.code();
			logger.warn("Receipts cannot be looked after, so that no expired one is given back: {}", ex.getMessage());
		}
	}

}
