package io.pipeset.record.body;

import java.util.concurrent.atomic.AtomicLong;

import io.pipeset.record.room.Room;

/**
 * A room without a limit that counts the memory taken and not given back.
 *
 * @param held the bytes that are taken now
 * @param isScarce whether somebody waits for memory
 */
public record CountedRoom(AtomicLong held, boolean isScarce) implements Room {

	@Override
	public boolean tryTake(long bytes) {
		this.held.addAndGet(bytes);
		return true;
	}

	@Override
	public void take(long bytes) {
		this.held.addAndGet(bytes);
	}

	@Override
	public void give(long bytes) {
		this.held.addAndGet(-bytes);
	}

}
