package io.pipeset.record.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A reservation that counts the memory reserved and not released.
 *
 * @param held the bytes that are currently reserved
 * @param limit the largest number of reserved bytes; more is refused at once
 * @param isScarce whether a thread waits for memory
 */
public record CountedReservation(AtomicLong held, long limit, boolean isScarce) implements MemoryReservation {

	/**
	 * Creates a reservation without a limit.
	 * @param held the bytes that are currently reserved
	 * @param isScarce whether a thread waits for memory
	 */
	public CountedReservation(AtomicLong held, boolean isScarce) {
		this(held, Long.MAX_VALUE, isScarce);
	}

	/**
	 * Creates an empty reservation, for which no thread waits.
	 * @param limit the largest number of reserved bytes
	 */
	public CountedReservation(long limit) {
		this(new AtomicLong(), limit, false);
	}

	@Override
	public boolean tryReserve(long bytes) {
		boolean free = this.held.addAndGet(bytes) <= this.limit;
		if (!free) {
			release(bytes);
		}
		return free;
	}

	@Override
	public void reserve(long bytes) {
		if (!tryReserve(bytes)) {
			throw new MemoryLimitException("full");
		}
	}

	@Override
	public void release(long bytes) {
		this.held.addAndGet(-bytes);
	}

}
