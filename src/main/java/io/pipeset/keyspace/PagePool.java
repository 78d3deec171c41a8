package io.pipeset.keyspace;

import java.util.ArrayDeque;
import java.util.Deque;

import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.record.memory.MemoryReservation;

/** Reuses pages, so that their memory is not allocated for each SCAN. */
final class PagePool {

	private final MemoryReservation reservation;

	private final Deque<KeyPage> free = new ArrayDeque<>();

	PagePool(MemoryReservation reservation) {
		this.reservation = reservation;
	}

	/** Returns an empty page. */
	KeyPage take() {
		KeyPage page = this.free.poll();
		return (page != null) ? page : new KeyPage(this.reservation);
	}

	/** Returns a page to the pool. */
	void give(KeyPage page) {
		if (this.reservation.isScarce()) {
			page.close();
		}
		else {
			page.clear();
		}
		this.free.push(page);
	}

	/** Releases the memory of all pages in the pool. */
	void releaseMemory() {
		this.free.forEach(KeyPage::close);
	}

	/**
	 * Releases the memory of the other pages, and reserves the memory that a page lacked.
	 */
	void reserveFor(KeyPage page) {
		releaseMemory();
		page.ensureCapacity();
		this.free.push(page);
	}

}
