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
 * The run of one tuning: the round trip, an unmeasured run, and then all rows and
 * baselines in turn. However it ends, its keys are removed and what was measured is
 * reported.
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

	private final Choice byDefault;

	private @Nullable Long roundTripMicros;

	private boolean lostCall;

	private @Nullable Ending ended;

	TuningExecution(Task task, TuningSettings settings, Jobs jobs, JobOwner place, RedisNodes nodes,
			JobDefaults defaults, LongSupplier clock) {
		this.task = task;
		this.settings = settings;
		Duration timeout = defaults.toSettings().timeout();
		this.servers = new TunedServers(nodes, task.stop(), timeout);
		this.clock = clock;
		this.keys = new TuningKeys(task.id(), settings.operation(), settings.records());
		this.runs = new Runs(task, place, settings, this.keys, jobs, this.servers, timeout, clock);
		this.byDefault = Choice.of(defaults);
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
			this.lostCall = ex.code() == null;
			end(TuningEndedException.by(ex, this.runs.haveWritten()));
		}
		catch (RuntimeException | Error ex) {
			removeKeys();
			throw ex;
		}
		return report(removeKeys());
	}

	/**
	 * Removes the keys, and says how many may be left. If a command of a lost connection
	 * may still run, it would make a removed key anew: a SET with an expiry, but a hash
	 * or a list without one. Hashes and lists are then left to expire.
	 */
	private long removeKeys() {
		if (!this.runs.haveBegun()) {
			return 0;
		}
		boolean late = this.lostCall || this.runs.areUnfenced();
		if (late && this.keys.arePrepared()) {
			return this.keys.count();
		}
		long left = new KeyRemoval(this.keys, this.servers, this.clock).run();
		return (late) ? this.keys.count() : left;
	}

	private void measure() {
		this.runs.requireGoingOn();
		measureRoundTrip();
		this.servers.requireRoom(this.keys.bytes(this.settings.records(), this.settings.valueBytes()));
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
			// The user may not ping, and needs no right for it to run jobs.
		}
	}

	/**
	 * Makes all rows meet the same state: open connections, keys that are there, and code
	 * that is compiled.
	 */
	private void warmUp(Rounds rounds) {
		List<Choice> choices = new ArrayList<>(this.rows.stream().map((row) -> row.choice).toList());
		// The widest row opens all connections that any row uses.
		Choice widest = choices.stream()
			.max(Comparator.comparingInt(Choice::concurrency).thenComparingInt(Choice::batchSize))
			.orElseThrow();
		this.runs.run(widest);
		choices.remove(widest);
		for (Choice choice : choices) {
			if (rounds.goOn()) {
				this.runs.warmUp(choice);
			}
		}
	}

	private void end(Ending ending) {
		this.ended = ending;
		this.task.stop().because(ending.cause(), ending.detail());
	}

	private EndedJob<TuningReport> report(long keysLeft) {
		List<Row> measured = this.rows.stream().map(MeasuredRow::report).toList();
		Recommendation recommendation = Recommendation.of(measured, this.byDefault);
		Ending ending = (this.ended != null) ? this.ended : this.task.ending();
		if (keysLeft > 0) {
			ending = new Ending(ending.cause(), ending.detail() + ((ending.detail().isEmpty()) ? "" : " ") + keysLeft
					+ " keys under '" + this.keys.prefix() + "' may be left, and expire within an hour.");
		}
		TuningReport report = new TuningReport(this.task.id(), ending.cause().state(), this.settings.toReport(),
				this.roundTripMicros, measured, this.baselines.stream().map(Baselines.Contender::report).toList(),
				recommendation.choice(), recommendation.because(), (keysLeft > 0) ? keysLeft : null);
		return new EndedJob<>(this.task.id(), report, ending, this.runs.haveWritten(), this.task.memory());
	}

	/** A row of the grid with its runs so far. */
	private final class MeasuredRow implements Runnable {

		private final Choice choice;

		private final List<Run> measured = new ArrayList<>();

		private MeasuredRow(Choice choice) {
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
