package io.pipeset.engine.lane;

/** Memory without a limit. */
final class UnlimitedSlabMemory implements SlabMemory {

	@Override
	public boolean tryTake(long bytes) {
		return true;
	}

	@Override
	public void take(long bytes) {
	}

	@Override
	public void give(long bytes) {
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
