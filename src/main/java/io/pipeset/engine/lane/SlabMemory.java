package io.pipeset.engine.lane;

import io.pipeset.record.memory.MemoryReservation;

/**
 * The memory that a job's slabs take. It also knows how many slabs are in use, since each
 * of them comes back by itself and brings memory with it.
 */
public interface SlabMemory extends MemoryReservation {

	/** A slab has its first command, and is in use. */
	void slabTaken();

	/** A slab that was in use is free again, or given up. */
	void slabFreed();

}
