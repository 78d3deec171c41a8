package io.pipeset.job.pop;

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
import io.pipeset.job.pop.Receipts.Answer;
import io.pipeset.job.pop.Receipts.Returned;
import io.pipeset.job.pop.UsedSlots.Use;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/**
 * Gives back the values of receipts whose deadline has passed, whichever instance wrote
 * them, and finishes receipts that another instance has begun to give back.
 */
@Component
@EnableConfigurationProperties(ReceiptProperties.class)
class ReceiptSweeper implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(ReceiptSweeper.class);

	private static final long END_MILLIS = 1000;

	private static final int AT_ONCE = 100;

	/** How long a receipt that Redis refuses to give back waits behind the others. */
	private static final Duration PAUSE = Duration.ofMinutes(1);

	/** The same if Redis refuses to postpone it, too. */
	private static final Duration SHORT_PAUSE = Duration.ofSeconds(10);

	private final Receipts receipts;

	private final long pauseMillis;

	private volatile @Nullable ScheduledThreadPoolExecutor executor;

	/**
	 * Receipts that Redis neither gave back nor postponed, each with the time until which
	 * it is passed over.
	 */
	private final Map<String, Long> passedOver = new HashMap<>();

	/** The error of the last sweep, so that it is not logged each time. */
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
		// The first sweep finds it running.
		this.executor = executor;
		ScheduledFuture<?> unused = executor.scheduleWithFixedDelay(this::sweep, 0, this.pauseMillis,
				TimeUnit.MILLISECONDS);
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
			long now = System.nanoTime();
			this.passedOver.values().removeIf((until) -> now - until > 0);
			RedisCallException failure = null;
			Set<String> silent = new HashSet<>();
			for (Use place : this.receipts.places()) {
				if (isRunning()) {
					RedisCallException failed = trySweep(place, silent);
					failure = (failed != null) ? failed : failure;
				}
			}
			if (failure != null) {
				throw failure;
			}
			this.refusal = null;
		}
		catch (RedisCallException ex) {
			failed(ex);
		}
		catch (RuntimeException | Error ex) {
			// The next sweep, if there is one, may well do better.
			if (isRunning()) {
				logger.error("Receipts could not be looked after", ex);
			}
		}
	}

	/**
	 * Sweeps a place, so that a failure does not keep others from being swept. A master
	 * that does not answer, or serves nothing now, is asked once a sweep.
	 * @return the failure, if there was one
	 */
	private @Nullable RedisCallException trySweep(Use place, Set<String> silent) {
		String master = "";
		try {
			master = this.receipts.master(place);
			if (!silent.contains(master)) {
				sweep(place);
			}
			return null;
		}
		catch (RedisCallException ex) {
			if (ex.code() == null || servesNothing(ex)) {
				silent.add(master);
			}
			return ex;
		}
	}

	/**
	 * Whether a master loads its data, or finds its cluster down, so that a call about
	 * any other slot would wait as long in vain.
	 */
	private static boolean servesNothing(RedisCallException ex) {
		Redirect redirect = ex.redirect();
		return redirect != null && redirect.kind() == Kind.WAIT
				&& !String.valueOf(ex.getMessage()).contains("Hash slot not served");
	}

	private void sweep(Use place) {
		boolean refused = false;
		for (String jobId : this.receipts.due(place, AT_ONCE + this.passedOver.size())) {
			if (isRunning() && !this.passedOver.containsKey(jobId)) {
				refused |= !tryGiveBack(place, jobId, (refused) ? Level.DEBUG : Level.WARN);
			}
		}
	}

	/**
	 * Gives a receipt back, if it is still due; {@code false} if Redis refuses, so that
	 * the others come first for a while.
	 */
	private boolean tryGiveBack(Use place, String jobId, Level level) {
		try {
			giveBack(place, jobId);
			return true;
		}
		catch (RedisCallException ex) {
			if (ex.isTransient()) {
				throw ex;
			}
			Duration pause = postpone(place, jobId);
			logger.atLevel(level)
				.addKeyValue("jobId", jobId)
				.log("Job {}: its values cannot go back, and maybe others', which is tried again in {} s: {}", jobId,
						pause.toSeconds(), ex.getMessage());
			return false;
		}
	}

	/** Lets the others come first. */
	private Duration postpone(Use place, String jobId) {
		try {
			this.receipts.postpone(place, jobId, PAUSE);
			return PAUSE;
		}
		catch (RedisCallException ex) {
			if (ex.isTransient()) {
				throw ex;
			}
			this.passedOver.put(jobId, System.nanoTime() + SHORT_PAUSE.toNanos());
			return SHORT_PAUSE;
		}
	}

	private void giveBack(Use place, String jobId) {
		Returned returned = this.receipts.giveBackIfDue(place, jobId);
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
			// Health reports it, too, and the sweeps go on when Redis is back.
			logger.debug("Receipts cannot be looked after", ex);
		}
		else if (!ex.code().equals(this.refusal)) {
			this.refusal = ex.code();
			logger.warn("Receipts cannot be looked after, so that no expired one is given back: {}", ex.getMessage());
		}
	}

}
