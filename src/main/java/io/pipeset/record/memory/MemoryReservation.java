package io.pipeset.record.memory;

/**
 * The memory for arrays that grow with a caller's data. A class that needs such memory
 * takes it here before allocating it, and gives it back afterwards.
 */
public interface MemoryReservation {

	/** Room without a limit. */
	MemoryReservation UNLIMITED = new MemoryReservation() {

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

	};

	/** Arrays of this size take whole regions of the heap (G1's are of 1 MiB or more). */
	int HUMONGOUS_BYTES = 512 << 10;

	/**
	 * Takes memory if it is free.
	 * @param bytes how much, 0 or more
	 * @return {@code false} if it is not free, and nothing was taken
	 */
	boolean tryTake(long bytes);

	/**
	 * Takes memory, for which the caller's thread may have to wait.
	 * @param bytes how much, 0 or more
	 * @throws MemoryLimitException if it will never be free, or nobody waits any longer
	 */
	void take(long bytes);

	/**
	 * Gives memory back.
	 * @param bytes how much, of the memory that was taken
	 */
	void give(long bytes);

	/** Whether somebody waits for memory. Nobody should then keep a buffer for later. */
	boolean isScarce();

	/**
	 * The memory of the heap that an array takes.
	 * @param bytes the size of its elements
	 */
	static long ofArray(long bytes) {
		return (bytes < HUMONGOUS_BYTES) ? bytes : (bytes + 16 + (1 << 20) - 1) & -(1L << 20);
	}

}
