package io.pipeset.tuning;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.job.EndedJob;
import io.pipeset.job.run.JobOwner;
import io.pipeset.job.run.Jobs;
import io.pipeset.job.run.Task;
import io.pipeset.job.settings.JobDefaults;
import io.pipeset.report.Ending;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.Progress.Tally;
import io.pipeset.tuning.TuningReport.Row;
import org.jspecify.annotations.Nullable;

/**
 * Runs one tuning: it measures the round trip, warms up, and then runs all rows and
 * baselines round-robin. However it ends, it removes its keys and reports its
 * measurements.
 */
final class TuningExecution {

	private static final int PINGS = 51;

	private final Task task;

	private final TuningSettings settings;

	private final TunedServers servers;

	private final LongSupplier clock;

	private final TuningKeys keys;

	private final Runs runs;

	private final List<MeasuredRow> rows;

	private final List<Baselines.Contender> baselines;

	private final RowSettings defaultValue;

	private @Nullable Long roundTripMicros;

	private boolean callLost;

	private @Nullable Ending ended;

	TuningExecution(Task task, TuningSettings settings, Jobs jobs, JobOwner owner, RedisNodes nodes,
			JobDefaults defaults, LongSupplier clock) {
		this.task = task;
		this.settings = settings;
		Duration timeout = defaults.toSettings().timeout();
		this.servers = new TunedServers(nodes, task.stop(), timeout);
		this.clock = clock;
		this.keys = new TuningKeys(task.id(), settings.operation(), settings.records());
		this.runs = new Runs(task, owner, settings, this.keys, jobs, this.servers, timeout, clock);
		this.defaultValue = RowSettings.of(defaults);
		this.rows = settings.grid().stream().map(MeasuredRow::new).toList();
		this.baselines = Baselines.of(settings, this.runs, this.servers, clock);
	}

	EndedJob<TuningReport> run() {
		try {
			measure();
		}
		catch (TuningEndedException ex) {
			if (ex.ending().cause() != Cause.COMPLETED) {
				end(ex.ending());
			}
		}
		catch (RedisCallException ex) {
			this.callLost = ex.code() == null;
			end(TuningEndedException.by(ex, this.runs.haveWritten()));
		}
		catch (RuntimeException | Error ex) {
			removeKeys();
			throw ex;
		}
		return report(removeKeys());
	}

	/**
	 * Removes the keys and returns how many may remain. A command of a lost connection
	 * may still run and create a removed key again: a SET with an expiry, but a hash or a
	 * list without one. In that case hashes and lists are not removed but left to expire.
	 */
	private long removeKeys() {
		if (!this.runs.haveBegun()) {
			return 0;
		}
		boolean mayRunLate = this.callLost || this.runs.mayHaveLateCommands();
		if (mayRunLate && this.keys.needPreparation()) {
			return this.keys.count();
		}
		long left = new KeyRemoval(this.keys, this.servers, this.clock).run();
		return (mayRunLate) ? this.keys.count() : left;
	}

	private void measure() {
		this.runs.requireNotStopped();
		measureRoundTrip();
		this.servers.requireMemory(this.keys.bytes(this.settings.records(), this.settings.valueBytes()));
		Rounds rounds = new Rounds(this.settings.budget(), this.clock);
		warmUp(rounds);
		List<Runnable> contenders = new ArrayList<>(this.rows);
		contenders.addAll(this.baselines);
		long all = (long) this.settings.runs() * contenders.size();
		AtomicLong measured = new AtomicLong();
		this.task.tallies(() -> Tally.of(measured.get(), all));
		contenders.replaceAll((contender) -> () -> {
			contender.run();
			measured.incrementAndGet();
		});
		rounds.run(this.settings.runs(), contenders);
	}

	private void measureRoundTrip() {
		try {
			this.roundTripMicros = Math.round(this.servers.roundTripNanos(PINGS) / 1000.0);
		}
		catch (RedisCallException ex) {
			if (ex.isTransient()) {
				throw ex;
			}
			// The user may lack the permission for PING, which jobs do not need.
		}
	}

	/**
	 * Warms up, so that all rows find open connections, existing keys and compiled code.
	 */
	private void warmUp(Rounds rounds) {
		List<RowSettings> choices = new ArrayList<>(this.rows.stream().map((row) -> row.choice).toList());
		// The widest row opens all connections that any row uses.
		RowSettings widest = choices.stream()
			.max(Comparator.comparingInt(RowSettings::concurrency).thenComparingInt(RowSettings::batchSize))
			.orElseThrow();
		this.runs.run(widest);
		choices.remove(widest);
		for (RowSettings choice : choices) {
			if (rounds.hasTimeLeft()) {
				this.runs.warmUp(choice);
			}
		}
	}

	private void end(Ending ending) {
		this.ended = ending;
		this.task.stop().stop(ending.cause(), ending.detail());
	}

	private EndedJob<TuningReport> report(long keysLeft) {
		List<Row> measured = this.rows.stream().map(MeasuredRow::report).toList();
		Recommendation recommendation = Recommendation.of(measured, this.settings.runs(), this.defaultValue);
		Ending ending = (this.ended != null) ? this.ended : this.task.ending();
		if (keysLeft > 0) {
			ending = new Ending(ending.cause(), ending.detail() + ((ending.detail().isEmpty()) ? "" : " ") + keysLeft
					+ " keys under '" + this.keys.prefix() + "' may remain; they expire within an hour.");
		}
		TuningReport report = new TuningReport(this.task.id(), ending.cause().state(), this.settings.toReport(),
				this.roundTripMicros, measured, this.baselines.stream().map(Baselines.Contender::report).toList(),
				recommendation.choice(), recommendation.because(), (keysLeft > 0) ? keysLeft : null);
		return new EndedJob<>(this.task.id(), report, ending, this.runs.haveWritten(), this.task.memory());
	}

	/** A row of the grid with its runs so far. */
	private final class MeasuredRow implements Runnable {

		private final RowSettings choice;

		private final List<Run> measured = new ArrayList<>();

		private MeasuredRow(RowSettings choice) {
			this.choice = choice;
		}

		@Override
		public void run() {
			this.measured.add(TuningExecution.this.runs.run(this.choice));
		}

		private Row report() {
			return Row.of(this.choice, this.measured, TuningExecution.this.settings.records());
		}

	}

}
