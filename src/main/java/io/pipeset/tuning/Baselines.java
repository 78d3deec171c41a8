package io.pipeset.tuning;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.tuning.TuningReport.Baseline;
import org.jspecify.annotations.Nullable;

/**
 * The baselines: ways to load Redis without a pipeline, or with a slow one. The rows of
 * the grid are compared with them.
 */
final class Baselines {

	/**
	 * The records of a transaction. A transaction blocks Redis's other clients, so it is
	 * small.
	 */
	private static final int TRANSACTION_RECORDS = 1_000;

	private static final int BATCH_SIZE = 10_000;

	private Baselines() {
	}

	static List<Contender> of(TuningSettings settings, Runs runs, TunedServers servers, LongSupplier clock) {
		return List.of(new OneByOne(settings, runs, servers, clock), new Transactions(settings, runs, servers),
				new FlushEach(settings, runs));
	}

	/** One baseline with its runs so far. */
	abstract static class Contender implements Runnable {

		private final String how;

		private final List<Double> seconds = new ArrayList<>();

		/** The records that a run of the tuning has. */
		int records;

		private Contender(String how, TuningSettings settings) {
			this.how = how;
			this.records = settings.records();
		}

		void addRun(double secondsPerRecord) {
			this.seconds.add(secondsPerRecord);
		}

		/**
		 * The records of the last run, if they were fewer than a row's; {@code null}
		 * otherwise.
		 */
		@Nullable Long extrapolatedFrom() {
			return null;
		}

		/** Why Redis refuses it; {@code null} if it does not. */
		@Nullable String refused() {
			return null;
		}

		Baseline report() {
			Long perSecond = (this.seconds.isEmpty()) ? null : Math.round(1 / Figures.median(this.seconds));
			return new Baseline(this.how, this.seconds.size(), perSecond,
					(perSecond != null) ? extrapolatedFrom() : null, refused());
		}

	}

	/** Single calls, each answered before the next is sent. */
	private static final class OneByOne extends Contender {

		private static final int MAX_RECORDS = 2_000;

		private static final Duration MAX_DURATION = Duration.ofSeconds(1);

		private final Runs runs;

		private final TunedServers servers;

		private final LongSupplier clock;

		private long sentInLastRun;

		private OneByOne(TuningSettings settings, Runs runs, TunedServers servers, LongSupplier clock) {
			super("one by one", settings);
			this.runs = runs;
			this.servers = servers;
			this.clock = clock;
		}

		@Override
		public void run() {
			this.runs.prepare();
			RecordReader records = this.runs.records(Math.min(MAX_RECORDS, this.records));
			Record record = new Record();
			long begin = this.clock.getAsLong();
			long nanos = 0;
			this.sentInLastRun = 0;
			try {
				while (nanos < MAX_DURATION.toNanos() && records.read(record)) {
					this.servers.send(record);
					this.sentInLastRun++;
					nanos = this.clock.getAsLong() - begin;
					this.runs.requireNotStopped();
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			addRun(Math.max(nanos, 1) / 1e9 / this.sentInLastRun);
		}

		@Override
		@Nullable Long extrapolatedFrom() {
			return (this.sentInLastRun < this.records) ? this.sentInLastRun : null;
		}

	}

	/**
	 * Transactions, one per batch. A cluster refuses them, because the keys are in
	 * several slots.
	 */
	private static final class Transactions extends Contender {

		private final Runs runs;

		private final TunedServers servers;

		private @Nullable String refused;

		private Transactions(TuningSettings settings, Runs runs, TunedServers servers) {
			super("MULTI/EXEC", settings);
			this.runs = runs;
			this.servers = servers;
		}

		@Override
		public void run() {
			this.refused = this.servers.transactionRefusal();
			if (this.refused != null) {
				return;
			}
			addRun(this.runs.runAtomic(TRANSACTION_RECORDS).seconds() / this.records);
		}

		@Override
		@Nullable String refused() {
			return this.refused;
		}

	}

	/** A pipeline that flushes after each command, which is Spring's default. */
	private static final class FlushEach extends Contender {

		private final Runs runs;

		private FlushEach(TuningSettings settings, Runs runs) {
			super("pipeline, flush each", settings);
			this.runs = runs;
		}

		@Override
		public void run() {
			addRun(this.runs.run(new RowSettings(BATCH_SIZE, FlushPolicy.each(), 1)).seconds() / this.records);
		}

	}

}
