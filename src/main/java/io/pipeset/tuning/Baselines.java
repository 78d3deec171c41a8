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
 * The ways to load Redis without a pipeline, or with a poor one, which show what the rows
 * of the grid are worth.
 */
final class Baselines {

	/** The records of a transaction. Others wait for Redis as long as one lasts. */
	private static final int TRANSACTION = 1_000;

	private static final int BATCH_SIZE = 10_000;

	private Baselines() {
	}

	static List<Contender> of(TuningSettings settings, Runs runs, TunedServers servers, LongSupplier clock) {
		return List.of(new OneByOne(settings, runs, servers, clock), new Transactions(settings, runs, servers),
				new FlushEach(settings, runs));
	}

	/** A way with its runs so far. */
	abstract static class Contender implements Runnable {

		private final String how;

		private final List<Double> seconds = new ArrayList<>();

		/** The records of a run, of which each way has its own number. */
		int records;

		private Contender(String how, TuningSettings settings) {
			this.how = how;
			this.records = settings.records();
		}

		void measured(double perRecord) {
			this.seconds.add(perRecord);
		}

		/** The records of a run, if they stand for more; {@code null} if not. */
		@Nullable Long extrapolatedFrom() {
			return null;
		}

		/** Why Redis does not let it run; {@code null} if it does. */
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

		private static final int MOST = 2_000;

		private static final Duration LONGEST = Duration.ofSeconds(1);

		private final Runs runs;

		private final TunedServers servers;

		private final LongSupplier clock;

		private long last;

		private OneByOne(TuningSettings settings, Runs runs, TunedServers servers, LongSupplier clock) {
			super("one by one", settings);
			this.runs = runs;
			this.servers = servers;
			this.clock = clock;
		}

		@Override
		public void run() {
			this.runs.prepare();
			RecordReader records = this.runs.records(Math.min(MOST, this.records));
			Record record = new Record();
			long begin = this.clock.getAsLong();
			long nanos = 0;
			this.last = 0;
			try {
				while (nanos < LONGEST.toNanos() && records.read(record)) {
					this.servers.send(record);
					this.last++;
					nanos = this.clock.getAsLong() - begin;
					this.runs.requireGoingOn();
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			measured(Math.max(nanos, 1) / 1e9 / this.last);
		}

		@Override
		@Nullable Long extrapolatedFrom() {
			return (this.last < this.records) ? this.last : null;
		}

	}

	/** Transactions, one batch each, which a cluster has only for keys of one slot. */
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
			measured(this.runs.runAtomic(TRANSACTION).seconds() / this.records);
		}

		@Override
		@Nullable String refused() {
			return this.refused;
		}

	}

	/** A pipeline that writes each command by itself, as Spring's does by default. */
	private static final class FlushEach extends Contender {

		private final Runs runs;

		private FlushEach(TuningSettings settings, Runs runs) {
			super("pipeline, flush each", settings);
			this.runs = runs;
		}

		@Override
		public void run() {
			measured(this.runs.run(new Choice(BATCH_SIZE, FlushPolicy.each(), 1)).seconds() / this.records);
		}

	}

}
