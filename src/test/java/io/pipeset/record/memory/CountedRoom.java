package io.pipeset.record.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A room that counts the memory taken and not given back.
 *
 * @param held the bytes that are taken now
 * @param limit the most bytes that may be taken; nobody waits for more
 * @param isScarce whether somebody waits for memory
 */
public record CountedRoom(AtomicLong held, long limit, boolean isScarce) implements MemoryReservation {

	/**
	 * A room without a limit.
	 * @param held the bytes that are taken now
	 * @param isScarce whether somebody waits for memory
	 */
	public CountedRoom(AtomicLong held, boolean isScarce) {
		this(held, Long.MAX_VALUE, isScarce);
	}

	/**
	 * An empty room, for which nobody waits.
	 * @param limit the most bytes that may be taken
	 */
	public CountedRoom(long limit) {
		this(new AtomicLong(), limit, false);
	}

	@Override
	public boolean tryTake(long bytes) {
		boolean free = this.held.addAndGet(bytes) <= this.limit;
		if (!free) {
			give(bytes);
		}
		return free;
	}

	@Override
	public void take(long bytes) {
		if (!tryTake(bytes)) {
			throw new MemoryLimitException("full");
		}
	}

	@Override
	public void give(long bytes) {
		this.held.addAndGet(-bytes);
	}

}
