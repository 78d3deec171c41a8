package io.pipeset.engine.lane;

/** Memory without a limit. */
final class UnlimitedSlabMemory implements SlabMemory {

	@Override
	public boolean tryReserve(long bytes) {
		return true;
	}

	@Override
	public void reserve(long bytes) {
	}

	@Override
	public void release(long bytes) {
	}

	@Override
	public boolean isScarce() {
		return false;
	}

	@Override
	public void slabTaken() {
	}

	@Override
	public void slabFreed() {
	}

}
