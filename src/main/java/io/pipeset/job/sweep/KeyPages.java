package io.pipeset.job.sweep;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Supplier;

import io.pipeset.engine.lane.JobStop;
import io.pipeset.engine.lane.LaneContext;
import io.pipeset.engine.lane.Lanes;
import io.pipeset.engine.pipeline.call.ScanPage;
import io.pipeset.engine.scan.KeyWalk;
import io.pipeset.engine.scan.ServerWalk;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a sweep, a page at a time. While the job takes the keys of one page, other
 * threads ask for the next ones: one of each server. Servers whose pages are there take
 * turns, so that none is behind the others for long.
 */
final class KeyPages {

	/** How many pages are asked for at once. More servers take turns. */
	private static final int MOST_ASKED = 8;

	/** The memory of a page's keys, unless a single place in Redis has more of them. */
	private static final long PAGE_BYTES = 128 << 10;

	/**
	 * How many keys Redis looks at in one call, for which all other clients wait: half a
	 * millisecond or less. More keys a call make a sweep no faster.
	 */
	private static final int MOST_KEYS = 500;

	private final Sweep sweep;

	private final Lanes lanes;

	private final LaneContext job;

	private final MemoryReservation room;

	private final JobStop stop;

	private final KeyWalk walk;

	/** What the other threads bring, for the reading thread to run. */
	private final LinkedBlockingQueue<Runnable> events = new LinkedBlockingQueue<>();

	private final Runnable wake = this::wake;

	/** The servers that are to be asked for their next page. */
	private final Deque<ServerPages> waiting = new ArrayDeque<>();

	/** How many servers are asked for a page. */
	private int asked;

	private @Nullable ScanPage page;

	private volatile boolean closed;

	/** The memory of the page that is being read beyond that of other pages. */
	private long excessBytes;

	private long heldBytes;

	KeyPages(Sweep sweep, Lanes lanes, LaneContext job, MemoryReservation room) {
		this.sweep = sweep;
		this.lanes = lanes;
		this.job = job;
		this.room = room;
		this.stop = job.stop();
		this.walk = new KeyWalk(job.nodes(), this.stop, patience());
		this.stop.add(this.wake);
	}

	/** The job is stopped: nobody waits for a page any longer. */
	private void wake() {
		this.events.add(KeyPages::doNothing);
	}

	private static void doNothing() {
	}

	private SweepRetryPolicy patience() {
		return new SweepRetryPolicy(this.job, () -> this.closed);
	}

	/** Whether a key of a page is a record of the sweep. */
	boolean isWanted(byte[] key) {
		return this.walk.isWanted(key);
	}

	/**
	 * Takes the next page, for which the lanes need not wait.
	 * @param wanted how many keys the job still takes at most
	 * @return the page; {@code null} behind the last one
	 * @throws IOException if the job is stopped before there is a page
	 */
	@Nullable ScanPage next(long wanted) throws IOException {
		this.excessBytes = 0;
		this.page = null;
		while (this.page == null && hasServers()) {
			askAhead();
			await();
		}
		ScanPage page = this.page;
		if (page != null) {
			this.excessBytes = Math.max(0, page.bytes() - PAGE_BYTES);
			hold();
			if (page.keys().size() < wanted) {
				askAhead();
			}
		}
		return page;
	}

	/** Looks for further servers to walk when those before have no page any more. */
	private boolean hasServers() throws IOException {
		if (this.asked == 0 && this.waiting.isEmpty()) {
			Duration timeout = this.job.settings().timeout();
			start(() -> {
				List<ServerWalk> next = this.walk.next(timeout);
				return () -> next.forEach((server) -> this.waiting.add(new ServerPages(server)));
			});
			await();
			this.sweep.repeats(this.walk.repeatedSlots());
		}
		return this.asked > 0 || !this.waiting.isEmpty();
	}

	private void askAhead() {
		hold();
		while (this.asked < MOST_ASKED && !this.waiting.isEmpty()) {
			ServerPages server = this.waiting.remove();
			this.asked++;
			start(() -> {
				ScanPage page = server.ask();
				return () -> take(server, page);
			});
		}
	}

	private void take(ServerPages server, @Nullable ScanPage page) {
		this.asked--;
		this.page = page;
		if (page == null) {
			server.walk.cut();
			return;
		}
		server.walk.taken(page.next());
		if (page.isRestarted()) {
			this.sweep.restarted();
		}
		if (!server.walk.isFinished()) {
			this.waiting.add(server);
		}
	}

	/** Runs something in another thread, and then its outcome in the reading thread. */
	private void start(Supplier<Runnable> task) {
		this.job.executor().execute(() -> {
			Runnable outcome;
			try {
				outcome = task.get();
			}
			catch (RuntimeException | Error ex) {
				outcome = () -> {
					throw ex;
				};
			}
			this.events.add(outcome);
		});
	}

	/** Runs the next event, of any server. */
	private void await() throws IOException {
		Runnable event = this.events.poll();
		if (event == null) {
			this.lanes.lend();
			try {
				event = this.events.take();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IOException("interrupted while waiting for keys", ex);
			}
			finally {
				this.lanes.reclaim();
			}
		}
		event.run();
		if (this.page == null && this.stop.isSet()) {
			throw new IOException("the job was stopped before its keys were found");
		}
	}

	/**
	 * Holds the memory of the pages that are asked for at once, and of the one that is
	 * being read, which may be larger than the others.
	 */
	private void hold() {
		long pages = 1L + Math.min(MOST_ASKED, this.asked + this.waiting.size());
		hold(pages * PAGE_BYTES + this.excessBytes);
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

	void close() {
		this.closed = true;
		this.stop.remove(this.wake);
		hold(0);
	}

	/**
	 * The pages of one server. A page is asked for by a single call, which holds no
	 * permit of a lane. One thread at a time does so.
	 */
	private final class ServerPages {

		private final ServerWalk walk;

		private final SweepRetryPolicy patience = patience();

		/** How many keys to ask for: fewer while keys are long. */
		private int count = MOST_KEYS;

		ServerPages(ServerWalk walk) {
			this.walk = walk;
		}

		/**
		 * Asks for the next page, and for fewer keys if it is too large.
		 * @return {@code null} if there will be none, as the job is stopped or the server
		 * was replaced
		 */
		@Nullable ScanPage ask() {
			while (true) {
				long most = (this.count == 1) ? Long.MAX_VALUE : PAGE_BYTES;
				ScanPage page = this.patience.ask("SCAN",
						() -> this.walk.node()
							.calls()
							.scan(this.walk.place(), KeyPages.this.sweep.filter(), this.count, most),
						this.walk::isReplaced);
				if (page == null || !page.isTooLarge()) {
					boolean small = page != null && page.bytes() < PAGE_BYTES / 4;
					this.count = (small) ? Math.min(2 * this.count, MOST_KEYS) : this.count;
					return page;
				}
				this.count = this.count / 2;
			}
		}

	}

}
