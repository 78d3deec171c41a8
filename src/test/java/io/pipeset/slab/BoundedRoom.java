package io.pipeset.slab;

import io.pipeset.record.room.NoRoomException;
import io.pipeset.record.room.Room;

/** A room with a fixed amount of memory, for which nobody waits. */
public final class BoundedRoom implements Room {

	private final long limit;

	private long held;

	/**
	 * An empty room.
	 * @param limit its memory in bytes
	 */
	public BoundedRoom(long limit) {
		this.limit = limit;
	}

	/**
	 * The memory that is taken.
	 * @return bytes
	 */
	public long held() {
		return this.held;
	}

	@Override
	public boolean tryTake(long bytes) {
		boolean free = this.held + bytes <= this.limit;
		this.held += (free) ? bytes : 0;
		return free;
	}

	@Override
	public void take(long bytes) {
		if (!tryTake(bytes)) {
			throw new NoRoomException("full");
		}
	}

	@Override
	public void give(long bytes) {
		this.held -= bytes;
	}

	@Override
	public boolean isScarce() {
		return false;
	}

}
