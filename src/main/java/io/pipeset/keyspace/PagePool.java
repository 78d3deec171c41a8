package io.pipeset.keyspace;

import java.util.ArrayDeque;
import java.util.Deque;

import io.pipeset.engine.slab.lookup.KeyPage;
import io.pipeset.record.memory.MemoryReservation;

/** The pages that are used again and again. */
final class PagePool {

	private final MemoryReservation room;

	private final Deque<KeyPage> free = new ArrayDeque<>();

	PagePool(MemoryReservation room) {
		this.room = room;
	}

	/** An empty page. */
	KeyPage take() {
		KeyPage page = this.free.poll();
		return (page != null) ? page : new KeyPage(this.room);
	}

	/** Takes a page back, to be the next that is used. */
	void give(KeyPage page) {
		if (this.room.isScarce()) {
			page.close();
		}
		else {
			page.clear();
		}
		this.free.push(page);
	}

	/** Gives the memory of all pages back that were taken back. */
	void giveRoom() {
		this.free.forEach(KeyPage::close);
	}

	/** Takes the memory that a page was in want of, and gives the others' back. */
	void makeRoomFor(KeyPage page) {
		giveRoom();
		page.makeRoom();
		this.free.push(page);
	}

}
