package io.pipeset.record;

import java.util.concurrent.atomic.AtomicLong;

/** Counts what is taken and not given back. */
record CountedRoom(AtomicLong held) implements Room {

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

	@Override
	public boolean isScarce() {
		return false;
	}

}
