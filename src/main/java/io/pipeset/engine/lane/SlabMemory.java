package io.pipeset.engine.lane;

import io.pipeset.record.memory.MemoryReservation;

/**
 * The memory of a job's slabs, and the number of slabs in use. Each slab in use gives its
 * memory back without help from the reading thread.
 */
public interface SlabMemory extends MemoryReservation {

	/** Counts a slab as in use, when it has its first command. */
	void slabTaken();

	/** Counts a slab as no longer in use: it is free again, or abandoned. */
	void slabFreed();

}
