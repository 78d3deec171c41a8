package io.pipeset.keep;

import java.util.concurrent.TimeUnit;

import io.pipeset.report.Progress;
import io.pipeset.report.Progress.Tally;
import org.jspecify.annotations.Nullable;

/** Measures the rate of a job, from samples of the last ten seconds. Thread-safe. */
final class ProgressMeter {

	/** Enough for more than ten seconds. */
	private static final int SAMPLES = 48;

	private static final long NOW_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(10);

	/** A ring buffer, which begins with the beginning of the job. */
	private final Sample[] samples = new Sample[SAMPLES];

	/** What an earlier process had done, which is no work of this one. */
	private final long earlier;

	private int count;

	/**
	 * Creates a meter.
	 * @param earlier how much of the job was done before it was resumed
	 */
	ProgressMeter(long earlier) {
		this.earlier = earlier;
	}

	/**
	 * Adds a sample.
	 * @param nanos the time since the job was requested
	 */
	synchronized void sample(Tally tally, long nanos) {
		this.samples[this.count++ % SAMPLES] = new Sample(nanos, ran(tally),
				(Double.isNaN(tally.share())) ? 0 : tally.share());
	}

	/**
	 * The progress of the job, with its current rate.
	 * @param nanos the time since the job was requested
	 */
	synchronized Progress progress(Tally tally, long nanos) {
		Sample before = last(nanos - NOW_NANOS);
		double share = tally.share();
		return new Progress(tally.read(), tally.done(), tally.total(),
				(Double.isNaN(share)) ? null : Double.valueOf(Math.round(share * 10_000) / 10_000.0),
				perSecond(ran(tally) - before.done, nanos - before.nanos), perSecond(ran(tally), nanos),
				TimeUnit.NANOSECONDS.toMillis(nanos), remainingMillis(share, nanos));
	}

	private long ran(Tally tally) {
		return Math.max(0, tally.done() - this.earlier);
	}

	private @Nullable Long remainingMillis(double share, long nanos) {
		Sample recent = last(nanos - RECENT_NANOS);
		double done = share - recent.share;
		// If the share is not a number, both comparisons are false.
		if (share >= 1) {
			return 0L;
		}
		return (done > 0) ? Math.round((1 - share) / done * (nanos - recent.nanos) / 1e6) : null;
	}

	/** The last sample before a time, or the oldest one. */
	private Sample last(long nanos) {
		for (int i = this.count - 1; i >= Math.max(0, this.count - SAMPLES); i--) {
			Sample sample = this.samples[i % SAMPLES];
			if (sample.nanos <= nanos) {
				return sample;
			}
		}
		return (this.count > SAMPLES) ? this.samples[this.count % SAMPLES] : Sample.BEGINNING;
	}

	private static long perSecond(long done, long nanos) {
		return Math.max(0, Math.round(done * 1e9 / Math.max(nanos, 1)));
	}

	/** The numbers at one time. */
	private record Sample(long nanos, long done, double share) {

		private static final Sample BEGINNING = new Sample(0, 0, 0);

	}

}
