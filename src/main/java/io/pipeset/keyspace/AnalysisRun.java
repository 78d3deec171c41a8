package io.pipeset.keyspace;

import java.time.Duration;
import java.util.concurrent.ExecutorService;

import io.pipeset.job.Task;
import io.pipeset.lane.JobStop;
import io.pipeset.pipeline.RedisNodes;
import io.pipeset.pipeline.SlotOwners;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.record.room.NoRoomException;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Progress.Tally;
import io.pipeset.slab.lookup.KeyTypes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The run of one analysis: passes over all servers, until one of them meets no restart,
 * and then a look at the largest keys.
 */
final class AnalysisRun {

	/** An analysis that has to begin again and again would never end. */
	private static final int MOST_RESTARTS = 10;

	private static final Logger logger = LoggerFactory.getLogger(AnalysisRun.class);

	private final Task task;

	private final AnalysisSettings settings;

	private final RedisNodes nodes;

	/** The longest that closing a connection may take. */
	private final Duration closing;

	private final ExecutorService threads;

	private final JobStop stop;

	private final KeyPace pace;

	private final Totals totals;

	private final Losses losses;

	private int restarts;

	/** The last pass. */
	private @Nullable Round round;

	AnalysisRun(Task task, AnalysisSettings settings, RedisNodes nodes, Duration closing, int maxPrefixes,
			ExecutorService threads) {
		this.task = task;
		this.settings = settings;
		this.nodes = nodes;
		this.closing = closing;
		this.threads = threads;
		this.stop = task.stop();
		this.pace = new KeyPace(task.rateLimit());
		this.totals = new Totals(settings, maxPrefixes, new KeyTypes(), task.memory());
		this.losses = new Losses(settings.timeout(), this.stop);
		task.tallies(() -> Tally.of(this.totals.keys() + this.totals.vanished(), null));
	}

	/** Runs the analysis, to its end. */
	Analysis run() {
		walk();
		this.totals.largest().sort();
		LargestLengths lengths = new LargestLengths(this.task, this.nodes, this.totals, this.settings.timeout(),
				this.closing);
		try {
			lengths.ask();
		}
		catch (NoRoomException ex) {
			stop(this.stop, ex);
		}
		balance();
		return new AnalysisReport(this.task, this.totals).draw(this.restarts, lengths,
				(this.nodes.isCluster()) ? this.round : null);
	}

	private void walk() {
		boolean anew = true;
		while (anew && !this.stop.isSet()) {
			SlotOwners owners = owners();
			if (owners != null) {
				Round next = new Round(this.task, this.settings, this.totals, this.pace, this.closing,
						this.restarts > 0, this.nodes, owners);
				this.round = next;
				next.run(this.threads);
				anew = next.isAnew();
				if (anew && !this.stop.isSet()) {
					beginAnew();
				}
			}
		}
	}

	private @Nullable SlotOwners owners() {
		this.nodes.refresh();
		try {
			return this.nodes.owners();
		}
		catch (NoConnectionException ex) {
			if (this.restarts > 0) {
				this.losses.pauseAfter(String.valueOf(ex.getMessage()));
			}
			else {
				this.stop.because(ex, "send the analysis again");
			}
			return null;
		}
	}

	private void beginAnew() {
		this.totals.clear();
		this.losses.progress();
		if (++this.restarts > MOST_RESTARTS) {
			this.stop.because(Cause.REDIS_LOST, "Redis was started anew more than " + MOST_RESTARTS
					+ " times, after each of which the analysis began again");
		}
	}

	/** Stops an analysis for which there is not enough memory. */
	static void stop(JobStop stop, NoRoomException ex) {
		stop.because(Cause.LIMIT,
				"The keys of one page of SCAN, or the largest keys, do not fit into memory: " + ex.getMessage()
						+ ". Ask for smaller pages with 'scanCount' and for fewer of the largest keys with 'top',"
						+ " or raise the budget");
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
