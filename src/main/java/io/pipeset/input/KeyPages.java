package io.pipeset.input;

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
import io.pipeset.engine.scan.KeyScan;
import io.pipeset.engine.scan.ServerScan;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a sweep, in pages. While the job reads one page, other threads prefetch the
 * next page of each server. Servers are served in turn, so that their scans advance
 * evenly.
 */
final class KeyPages {

	/** The most pages that are requested at once; further servers wait. */
	private static final int MAX_REQUESTED = 8;

	/** The most bytes of a page's keys, unless a SCAN with COUNT 1 returns more. */
	private static final long PAGE_BYTES = 128 << 10;

	/**
	 * The largest COUNT of a SCAN. It blocks Redis for half a millisecond or less, and a
	 * larger COUNT makes a sweep no faster.
	 */
	private static final int MAX_COUNT = 500;

	private final Sweep sweep;

	private final Lanes lanes;

	private final LaneContext job;

	private final MemoryReservation memory;

	private final JobStop stop;

	private final KeyScan scan;

	/** The results of other threads, which the reading thread runs. */
	private final LinkedBlockingQueue<Runnable> results = new LinkedBlockingQueue<>();

	private final Runnable wake = this::wake;

	/** The servers whose next page is to be requested. */
	private final Deque<ServerPages> waiting = new ArrayDeque<>();

	/** How many pages are requested and have not arrived. */
	private int requested;

	/** The page that has arrived; {@code null} if none has. */
	private @Nullable ScanPage page;

	private volatile boolean closed;

	/** The bytes of the page that is being read beyond {@link #PAGE_BYTES}. */
	private long excessBytes;

	private long heldBytes;

	KeyPages(Sweep sweep, Lanes lanes, LaneContext job, MemoryReservation memory) {
		this.sweep = sweep;
		this.lanes = lanes;
		this.job = job;
		this.memory = memory;
		this.stop = job.stop();
		this.scan = new KeyScan(job.nodes(), this.stop, retryPolicy());
		this.stop.add(this.wake);
	}

	/** Wakes the reading thread, because the job is stopped. */
	private void wake() {
		this.results.add(KeyPages::doNothing);
	}

	private static void doNothing() {
	}

	private SweepRetryPolicy retryPolicy() {
		return new SweepRetryPolicy(this.job, () -> this.closed);
	}

	/** Whether the slot of a key is one of those that are scanned now. */
	boolean isWanted(byte[] key) {
		return this.scan.isWanted(key);
	}

	/**
	 * Returns the next page. While this waits, the lanes send the records read so far.
	 * @param wanted the most keys that the job still takes
	 * @return the page; {@code null} after the last one
	 * @throws IOException if the job is stopped before a page arrives
	 */
	@Nullable ScanPage next(long wanted) throws IOException {
		this.excessBytes = 0;
		this.page = null;
		while (this.page == null && hasServers()) {
			prefetch();
			awaitResult();
		}
		ScanPage page = this.page;
		if (page != null) {
			this.excessBytes = Math.max(0, page.bytes() - PAGE_BYTES);
			reserveMemory();
			if (page.keys().size() < wanted) {
				prefetch();
			}
		}
		return page;
	}

	/**
	 * Whether a server has more pages. If the current servers have none, queries for
	 * further servers to scan.
	 */
	private boolean hasServers() throws IOException {
		if (this.requested == 0 && this.waiting.isEmpty()) {
			Duration timeout = this.job.settings().timeout();
			runAsync(() -> {
				List<ServerScan> next = this.scan.next(timeout);
				return () -> next.forEach((server) -> this.waiting.add(new ServerPages(server)));
			});
			awaitResult();
			this.sweep.setRepeatedSlots(this.scan.repeatedSlots());
		}
		return this.requested > 0 || !this.waiting.isEmpty();
	}

	private void prefetch() {
		reserveMemory();
		while (this.requested < MAX_REQUESTED && !this.waiting.isEmpty()) {
			ServerPages server = this.waiting.remove();
			this.requested++;
			runAsync(() -> {
				ScanPage page = server.request();
				return () -> accept(server, page);
			});
		}
	}

	private void accept(ServerPages server, @Nullable ScanPage page) {
		this.requested--;
		this.page = page;
		if (page == null) {
			server.scan.cut();
			return;
		}
		server.scan.taken(page.next());
		if (page.isRestarted()) {
			this.sweep.countRestart();
		}
		if (!server.scan.isFinished()) {
			this.waiting.add(server);
		}
	}

	/** Runs a task in another thread, and then its result in the reading thread. */
	private void runAsync(Supplier<Runnable> task) {
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
			this.results.add(outcome);
		});
	}

	/** Waits for the next result of any server, and runs it. */
	private void awaitResult() throws IOException {
		Runnable result = this.results.poll();
		if (result == null) {
			this.lanes.lend();
			try {
				result = this.results.take();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IOException("interrupted while waiting for keys", ex);
			}
			finally {
				this.lanes.reclaim();
			}
		}
		result.run();
		if (this.page == null && this.stop.isSet()) {
			throw new IOException("the job was stopped before its keys were found");
		}
	}

	/**
	 * Reserves the memory of the requested pages, and of the page that is being read,
	 * which may be larger than the others.
	 */
	private void reserveMemory() {
		long pages = 1L + Math.min(MAX_REQUESTED, this.requested + this.waiting.size());
		reserveMemory(pages * PAGE_BYTES + this.excessBytes);
	}

	private void reserveMemory(long bytes) {
		long more = bytes - this.heldBytes;
		if (more > 0) {
			this.memory.reserve(more);
		}
		else {
			this.memory.release(-more);
		}
		this.heldBytes = bytes;
	}

	void close() {
		this.closed = true;
		this.stop.remove(this.wake);
		reserveMemory(0);
	}

	/**
	 * The pages of one server. Each page is one call, which holds no permit of a lane.
	 * One thread at a time requests a page.
	 */
	private final class ServerPages {

		private final ServerScan scan;

		private final SweepRetryPolicy retryPolicy = retryPolicy();

		/** The COUNT of the next SCAN: smaller if keys are long. */
		private int count = MAX_COUNT;

		ServerPages(ServerScan scan) {
			this.scan = scan;
		}

		/**
		 * Requests the next page. If the page is too large, it repeats the call with a
		 * smaller COUNT.
		 * @return {@code null} if there is no page, because the job is stopped or the
		 * server was replaced
		 */
		@Nullable ScanPage request() {
			while (true) {
				long most = (this.count == 1) ? Long.MAX_VALUE : PAGE_BYTES;
				ScanPage page = this.retryPolicy.ask("SCAN",
						() -> this.scan.node()
							.calls()
							.scan(this.scan.place(), KeyPages.this.sweep.filter(), this.count, most),
						this.scan::isReplaced);
				if (page == null || !page.isTooLarge()) {
					boolean small = page != null && page.bytes() < PAGE_BYTES / 4;
					this.count = (small) ? Math.min(2 * this.count, MAX_COUNT) : this.count;
					return page;
				}
				this.count = this.count / 2;
			}
		}

	}

}
