package io.pipeset.sweep;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.pipeset.lane.JobStop;
import io.pipeset.lane.LaneContext;
import io.pipeset.lane.Lanes;
import io.pipeset.lane.Retries;
import io.pipeset.lane.RetryPauses;
import io.pipeset.pipeline.call.RedisCallException;
import io.pipeset.pipeline.call.ScanPage;
import io.pipeset.pipeline.call.ScanPlace;
import io.pipeset.record.room.Room;
import io.pipeset.report.Ending.Cause;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a sweep, a page at a time. While the job takes the keys of one page,
 * another thread asks for the next one, by a single call that holds no permit of a lane.
 */
final class KeyPages {

	/**
	 * How many keys Redis looks at in one call, for which all other clients wait: half a
	 * millisecond or less. More keys a call make a sweep no faster.
	 */
	private static final int MOST_KEYS = 500;

	/** The memory of a page's keys, unless a single place in Redis has more of them. */
	private static final long PAGE_BYTES = 128 << 10;

	/** The page that is being read, and the one that is awaited. */
	private static final long HELD_BYTES = 2 * PAGE_BYTES;

	private final Sweep sweep;

	private final Lanes lanes;

	private final LaneContext job;

	private final Room room;

	private final JobStop stop;

	/**
	 * The attempts while Redis cannot be reached, which a job with retries makes. They
	 * cost none of them: nothing is lost by a SCAN, and the lanes that meet the same loss
	 * pay for it.
	 */
	private final RetryPauses losses;

	/** The attempts while Redis is busy or loading, which nothing is lost by. */
	private final RetryPauses refusals;

	private final Runnable wake = this::wake;

	private volatile @Nullable CompletableFuture<Optional<ScanPage>> ahead;

	/** The place behind the last page. */
	private ScanPlace place = ScanPlace.START;

	/** How many keys to ask for: fewer while keys are long. */
	private int count = MOST_KEYS;

	private boolean begun;

	private long heldBytes;

	KeyPages(Sweep sweep, Lanes lanes, LaneContext job, Room room) {
		this.sweep = sweep;
		this.lanes = lanes;
		this.job = job;
		this.room = room;
		this.stop = job.stop();
		this.losses = new RetryPauses(job, new Retries((job.settings().retries() > 0) ? Integer.MAX_VALUE : 0));
		this.refusals = new RetryPauses(job, new Retries(Integer.MAX_VALUE));
	}

	/**
	 * Takes the next page, for which the lanes need not wait.
	 * @param wanted how many keys the job still takes at most
	 * @return the page; {@code null} behind the last one
	 * @throws IOException if the job is stopped before there is a page
	 */
	@Nullable ScanPage next(long wanted) throws IOException {
		hold(HELD_BYTES);
		if (this.begun && this.place.isAtAnEnd()) {
			return null;
		}
		CompletableFuture<Optional<ScanPage>> asked = this.ahead;
		ScanPage page = await((asked != null) ? asked : ask());
		this.begun = true;
		this.ahead = null;
		this.place = page.next();
		hold(HELD_BYTES + Math.max(0, page.bytes() - PAGE_BYTES));
		if (page.isRestarted()) {
			this.sweep.restarted();
		}
		if (!this.place.isAtAnEnd() && page.keys().size() < wanted) {
			CompletableFuture<Optional<ScanPage>> unused = ask();
		}
		return page;
	}

	private void hold(long bytes) {
		long more = bytes - this.heldBytes;
		if (more > 0) {
			this.room.take(more);
		}
		else {
			this.room.give(-more);
		}
		this.heldBytes = bytes;
	}

	private CompletableFuture<Optional<ScanPage>> ask() {
		ScanPlace from = this.place;
		CompletableFuture<Optional<ScanPage>> page = CompletableFuture.supplyAsync(() -> fetch(from),
				this.job.executor());
		this.ahead = page;
		this.stop.add(this.wake);
		return page;
	}

	private ScanPage await(CompletableFuture<Optional<ScanPage>> page) throws IOException {
		if (!page.isDone()) {
			this.lanes.lend();
			try {
				page.join();
			}
			finally {
				this.lanes.reclaim();
			}
		}
		return page.join().orElseThrow(() -> new IOException("the job was stopped before its keys were found"));
	}

	/** The job is stopped: nobody waits for a page any longer. */
	private void wake() {
		CompletableFuture<Optional<ScanPage>> page = this.ahead;
		if (page != null) {
			page.complete(Optional.empty());
		}
	}

	/** Asks until there is a page, or the job is stopped. Only one thread does so. */
	private Optional<ScanPage> fetch(ScanPlace place) {
		while (!this.stop.isSet()) {
			try {
				ScanPage page = this.job.nodes()
					.single()
					.calls()
					.scan(place, this.sweep.filter(), this.count, (this.count == 1) ? Long.MAX_VALUE : PAGE_BYTES);
				this.losses.progress();
				this.refusals.progress();
				if (!page.isTooLarge()) {
					this.count = (page.bytes() < PAGE_BYTES / 4) ? Math.min(2 * this.count, MOST_KEYS) : this.count;
					return Optional.of(page);
				}
				this.count = this.count / 2;
			}
			catch (RedisCallException ex) {
				if (!goesOn(ex)) {
					end(ex);
				}
			}
		}
		return Optional.empty();
	}

	private boolean goesOn(RedisCallException ex) {
		String code = ex.code();
		return (code != null) ? ex.isTransient() && this.refusals.goesOn(code) : this.losses.goesOn("unreachable");
	}

	private void end(RedisCallException ex) {
		this.stop.because((ex.code() != null) ? Cause.REDIS_REFUSES : Cause.REDIS_UNREACHABLE,
				"SCAN could not go on, so that further keys were not found. " + ex.getMessage()
						+ ". Mend the cause there, then send the job again.");
	}

	void close() {
		this.stop.remove(this.wake);
		hold(0);
	}

}
