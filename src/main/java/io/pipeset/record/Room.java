package io.pipeset.record;

/**
 * Memory for what grows with a caller's data, and not with the service's code. Whoever
 * holds such memory takes it here before it is allocated, and gives it back.
 */
public interface Room {

	/** As much as is asked for. */
	Room UNLIMITED = new Room() {

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
	 * @return {@code false} where it is not, and nothing was taken
	 */
	boolean tryTake(long bytes);

	/**
	 * Takes memory, for which the caller's thread may have to wait.
	 * @param bytes how much, 0 or more
	 * @throws NoRoomException if it will never be free, or nobody waits any longer
	 */
	void take(long bytes);

	/**
	 * Gives memory back.
	 * @param bytes how much of what was taken
	 */
	void give(long bytes);

	/**
	 * Whether somebody waits for memory, so that buffers are not to be kept for later.
	 * @return {@code false} where there is enough
	 */
	boolean isScarce();

	/**
	 * What an array takes of the heap.
	 * @param bytes the size of its elements
	 * @return the bytes it takes
	 */
	static long ofArray(long bytes) {
		return (bytes < HUMONGOUS_BYTES) ? bytes : (bytes + 16 + (1 << 20) - 1) & -(1L << 20);
	}

}
