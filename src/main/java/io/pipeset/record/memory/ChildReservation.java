package io.pipeset.record.memory;

/**
 * A part of a reservation that is released as a whole, whatever of it was released
 * before.
 */
public final class ChildReservation implements MemoryReservation {

	private final MemoryReservation parent;

	private long reserved;

	public ChildReservation(MemoryReservation parent) {
		this.parent = parent;
	}

	@Override
	public boolean tryReserve(long bytes) {
		boolean free = this.parent.tryReserve(bytes);
		this.reserved += (free) ? bytes : 0;
		return free;
	}

	@Override
	public void reserve(long bytes) {
		this.parent.reserve(bytes);
		this.reserved += bytes;
	}

	@Override
	public void release(long bytes) {
		this.parent.release(bytes);
		this.reserved -= bytes;
	}

	/** Releases all that is still reserved. */
	public void releaseAll() {
		this.parent.release(this.reserved);
		this.reserved = 0;
	}

	@Override
	public boolean isScarce() {
		return this.parent.isScarce();
	}

}
