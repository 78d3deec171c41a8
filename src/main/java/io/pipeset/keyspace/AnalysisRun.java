package io.pipeset.keyspace;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.pipeset.job.Task;
import io.pipeset.keyspace.Walk.Continuation;
import io.pipeset.lane.JobStop;
import io.pipeset.pipeline.Pipeline;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.flush.FlushPolicy;
import io.pipeset.record.room.NoRoomException;
import io.pipeset.report.DurationText;
import io.pipeset.report.Ending.Cause;
import io.pipeset.slab.RedisErrors;
import io.pipeset.slab.RedisErrors.Meaning;
import io.pipeset.slab.lookup.KeyPage;
import io.pipeset.slab.lookup.KeyTypes;
import io.pipeset.slab.lookup.LengthLookup;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The run of one analysis, in the thread that asks for it: one turn after the other on a
 * connection, until all keys are looked at, and then a look at the largest.
 */
final class AnalysisRun {

	/** An analysis that has to begin again and again would never end. */
	private static final int MOST_RESTARTS = 10;

	private static final Logger logger = LoggerFactory.getLogger(AnalysisRun.class);

	private final Task task;

	private final AnalysisSettings settings;

	private final RedisNode node;

	/** The longest that closing a connection may take. */
	private final Duration closing;

	private final JobStop stop;

	private final Walk walk;

	private final Totals totals;

	private final KeyPages pages;

	private final Losses losses;

	private @Nullable LengthLookup lengths;

	AnalysisRun(Task task, AnalysisSettings settings, RedisNode node, Duration closing, int maxPrefixes) {
		this.task = task;
		this.settings = settings;
		this.node = node;
		this.closing = closing;
		this.stop = task.stop();
		this.walk = new Walk(settings.rateLimit());
		this.totals = new Totals(settings, maxPrefixes, new KeyTypes(), task.memory());
		this.pages = new KeyPages(task.memory());
		this.losses = new Losses(settings.timeout(), this.stop);
	}

	/** Runs the analysis, to its end. */
	Analysis run() {
		try {
			walk();
			measureLargest();
		}
		catch (NoRoomException ex) {
			this.stop.because(Cause.LIMIT,
					"The keys of one page of SCAN, or the largest keys, do not fit into memory: " + ex.getMessage()
							+ ". Ask for smaller pages with 'scanCount' and for fewer of the largest keys with 'top',"
							+ " or raise the budget");
		}
		balance();
		return new AnalysisReport(this.task, this.totals).draw(this.walk.restarts(), this.lengths);
	}

	private void walk() {
		while (!this.walk.isFinished() && !this.stop.isSet()) {
			long early = this.walk.early();
			if (early == 0 || !this.stop.await(early)) {
				onConnection(this::turn);
			}
		}
	}

	/** Runs a turn; returns what is to be done once the connection is given back. */
	private Runnable turn(Pipeline pipeline) {
		Continuation continuation = this.walk.resume(pipeline.runId(), pipeline.firstLentNanos());
		if (continuation == Continuation.NOT_YET) {
			return pauseAfter("Redis does not tell yet whether it was started anew");
		}
		if (continuation == Continuation.ANEW) {
			this.totals.clear();
			if (this.walk.restarts() > MOST_RESTARTS) {
				this.stop.because(Cause.REDIS_LOST, "Redis was started anew more than " + MOST_RESTARTS
						+ " times, after each of which the analysis began again");
				return AnalysisRun::doNothing;
			}
		}
		try (Conversation conversation = conversation(pipeline);
				Turn turn = new Turn(this.walk, this.totals, this.pages, this.settings, conversation,
						this.node.permits(), this.stop)) {
			turn.run();
			this.walk.leaves();
			if (turn.hasCounted()) {
				this.losses.progress();
			}
			boolean answered = conversation.loss() == null && turn.transientError() == null;
			Runnable want = (answered) ? turn.want() : null;
			return (want != null) ? want : after(conversation, turn.transientError());
		}
	}

	private Runnable after(Conversation conversation, @Nullable String transientError) {
		String loss = conversation.loss();
		if (loss != null) {
			this.walk.lost();
			return pauseAfter(loss);
		}
		return (transientError != null) ? pauseAfter("Redis answered " + transientError) : AnalysisRun::doNothing;
	}

	private Runnable pauseAfter(String detail) {
		return () -> this.losses.pauseAfter(detail);
	}

	/** Asks for the number of elements of the largest keys. */
	private void measureLargest() {
		this.totals.largest().sort();
		KeyPage page = this.totals.largest().page();
		if (!page.isTooLarge()) {
			LengthLookup none = new LengthLookup(this.totals.types(), page);
			this.lengths = (none.isEmpty()) ? none : null;
			while (this.lengths == null && !this.stop.isSet()) {
				onConnection((pipeline) -> measure(pipeline, page));
			}
		}
	}

	private Runnable measure(Pipeline pipeline, KeyPage page) {
		LengthLookup lookup = new LengthLookup(this.totals.types(), page);
		try (Conversation conversation = conversation(pipeline)) {
			conversation.send(lookup, AnalysisRun::doNothing);
			while (conversation.await()) {
				// Until it is answered, or lost.
			}
			String error = lookup.error();
			boolean passes = error != null && RedisErrors.means(RedisErrors.code(error), Meaning.TRANSIENT);
			if (conversation.loss() == null && !passes) {
				this.lengths = lookup;
			}
			return after(conversation, (passes) ? error : null);
		}
	}

	private Conversation conversation(Pipeline pipeline) {
		return new Conversation(pipeline, this.settings.timeout(), this.closing, this.stop);
	}

	/** Has a connection used, and does what is left to do when it is given back. */
	private void onConnection(Function<Pipeline, Runnable> use) {
		AtomicReference<Runnable> then = new AtomicReference<>(AnalysisRun::doNothing);
		long asked = System.nanoTime();
		if (acquire()) {
			try {
				this.node.run(FlushPolicy.close(), this.settings.timeout(), this.stop, (pipeline) -> {
					this.task.clock().waited(System.nanoTime() - asked);
					then.set(use.apply(pipeline));
				});
			}
			catch (NoConnectionException ex) {
				this.task.clock().waited(System.nanoTime() - asked);
				this.walk.lost();
				then.set(() -> unreachable(ex));
			}
		}
		Objects.requireNonNull(then.get()).run();
	}

	private boolean acquire() {
		boolean acquired = false;
		try {
			acquired = this.node.permits().acquire(this.settings.timeout().toNanos(), this.stop);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (!acquired && !this.stop.isSet()) {
			this.stop.because(Cause.REDIS_UNREACHABLE,
					"None of the " + this.node.permits().count() + " connections became free within the timeout of "
							+ DurationText.of(this.settings.timeout())
							+ ": send the analysis again later, or raise pipeset.pipeline.max-connections");
		}
		return acquired;
	}

	private void unreachable(NoConnectionException ex) {
		if (this.walk.pages() > 0 || this.walk.restarts() > 0) {
			this.losses.pauseAfter(String.valueOf(ex.getMessage()));
		}
		else {
			this.stop.because(Cause.REDIS_UNREACHABLE, ex.getMessage()
					+ ". Check that it runs and that spring.data.redis.* names it, then send the analysis again.");
		}
	}

	private static void doNothing() {
	}

	/** Sees to it that each list adds up to the number of keys. */
	private void balance() {
		String list = this.totals.unbalanced();
		if (list != null) {
			String detail = "The list '" + list + "' of the analysis does not add up to its " + this.totals.keys()
					+ " keys, by a defect of the service";
			logger.error("Job {}: {}", this.task.id(), detail);
			this.stop.because(Cause.INTERNAL_SERVER_ERROR, detail);
		}
	}

}
