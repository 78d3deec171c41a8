package io.pipeset.sweep;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.pipeset.lane.JobStop;
import io.pipeset.lane.LaneContext;
import io.pipeset.lane.Lanes;
import io.pipeset.pipeline.call.ScanPage;
import io.pipeset.record.room.Room;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a sweep, a page at a time. While the job takes the keys of one page, other
 * threads ask for the next ones: one of each server. Servers whose pages are there take
 * turns, so that none is behind the others for long.
 */
final class KeyPages {

	/** How many pages are asked for at once. More servers take turns. */
	private static final int MOST_ASKED = 8;

	private final Sweep sweep;

	private final Lanes lanes;

	private final LaneContext job;

	private final Room room;

	private final JobStop stop;

	private final ScanPlan plan;

	private final Runnable wake = this::wake;

	/** The groups of scans that come behind those under way. */
	private Deque<List<NodeScan>> groups = new ArrayDeque<>();

	/** The scans that are to be asked for their next page. */
	private final Deque<NodeScan> waiting = new ArrayDeque<>();

	/** The scans that are asked for a page, in the order in which they were asked. */
	private final List<NodeScan> asked = new CopyOnWriteArrayList<>();

	private volatile @Nullable CompletableFuture<Optional<Deque<List<NodeScan>>>> planning;

	private volatile boolean closed;

	/** The memory of the page that is being read beyond that of other pages. */
	private long excessBytes;

	private long heldBytes;

	KeyPages(Sweep sweep, Lanes lanes, LaneContext job, Room room) {
		this.sweep = sweep;
		this.lanes = lanes;
		this.job = job;
		this.room = room;
		this.stop = job.stop();
		this.plan = new ScanPlan(sweep, job, () -> this.closed);
	}

	/** Whether a key of a page is a record of the sweep. */
	boolean isWanted(byte[] key) {
		return this.plan.isWanted(key);
	}

	/**
	 * Takes the next page, for which the lanes need not wait.
	 * @param wanted how many keys the job still takes at most
	 * @return the page; {@code null} behind the last one
	 * @throws IOException if the job is stopped before there is a page
	 */
	@Nullable ScanPage next(long wanted) throws IOException {
		this.excessBytes = 0;
		while (hasScans()) {
			askAhead();
			NodeScan scan = ready();
			this.asked.remove(scan);
			Optional<ScanPage> taken = scan.take();
			if (taken.isPresent()) {
				ScanPage page = taken.get();
				if (page.isRestarted()) {
					this.sweep.restarted();
				}
				if (!scan.isFinished()) {
					this.waiting.add(scan);
				}
				this.excessBytes = Math.max(0, page.bytes() - NodeScan.PAGE_BYTES);
				hold(ahead());
				if (page.keys().size() < wanted) {
					askAhead();
				}
				return page;
			}
			refuseIfStopped();
			this.plan.cut(scan.node());
		}
		return null;
	}

	private boolean hasScans() throws IOException {
		if (this.asked.isEmpty() && this.waiting.isEmpty()) {
			if (this.groups.isEmpty()) {
				this.groups = plan();
			}
			List<NodeScan> group = this.groups.poll();
			this.waiting.addAll((group != null) ? group : List.of());
		}
		return !this.asked.isEmpty() || !this.waiting.isEmpty();
	}

	private Deque<List<NodeScan>> plan() throws IOException {
		CompletableFuture<Optional<Deque<List<NodeScan>>>> planning = CompletableFuture.supplyAsync(this.plan::next,
				this.job.executor());
		this.planning = planning;
		this.stop.add(this.wake);
		await(planning);
		return planning.join().orElseThrow(KeyPages::stopped);
	}

	/** The pages that are asked for at once, and the one that is being read. */
	private long ahead() {
		return 1L + Math.min(MOST_ASKED, this.asked.size() + this.waiting.size());
	}

	private void askAhead() {
		hold(ahead());
		while (this.asked.size() < MOST_ASKED && !this.waiting.isEmpty()) {
			NodeScan scan = this.waiting.remove();
			scan.ask(this.job.executor());
			this.asked.add(scan);
		}
		this.stop.add(this.wake);
	}

	/** Waits for the page of any server; of several, for the one asked first. */
	private NodeScan ready() {
		while (true) {
			for (NodeScan scan : this.asked) {
				if (scan.page().isDone()) {
					return scan;
				}
			}
			await(CompletableFuture.anyOf(this.asked.stream().map(NodeScan::page).toArray(CompletableFuture[]::new)));
		}
	}

	private void await(CompletableFuture<?> answer) {
		if (!answer.isDone()) {
			this.lanes.lend();
			try {
				answer.join();
			}
			finally {
				this.lanes.reclaim();
			}
		}
	}

	/** Holds the memory of pages, one of which may be larger than the others. */
	private void hold(long pages) {
		long more = pages * NodeScan.PAGE_BYTES + this.excessBytes - this.heldBytes;
		if (more > 0) {
			this.room.take(more);
		}
		else {
			this.room.give(-more);
		}
		this.heldBytes += more;
	}

	private void refuseIfStopped() throws IOException {
		if (this.stop.isSet()) {
			throw stopped();
		}
	}

	private static IOException stopped() {
		return new IOException("the job was stopped before its keys were found");
	}

	/** The job is stopped: nobody waits for a page any longer. */
	private void wake() {
		this.asked.forEach(NodeScan::wake);
		CompletableFuture<Optional<Deque<List<NodeScan>>>> planning = this.planning;
		if (planning != null) {
			planning.complete(Optional.empty());
		}
	}

	void close() {
		this.closed = true;
		this.stop.remove(this.wake);
		this.excessBytes = 0;
		hold(0);
	}

}
