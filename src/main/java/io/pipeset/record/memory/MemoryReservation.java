package io.pipeset.record.memory;

/**
 * Limits the memory for arrays that grow with a caller's data. A class reserves such
 * memory here before it allocates, and releases it afterwards.
 */
public interface MemoryReservation {

	/** No limit. */
	MemoryReservation UNLIMITED = new MemoryReservation() {

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

	};

	/**
	 * Arrays of this size or more occupy whole regions of the heap. With G1, a region is
	 * at least 1 MiB.
	 */
	int HUMONGOUS_BYTES = 512 << 10;

	/**
	 * Reserves memory if it is free.
	 * @param bytes the number of bytes, 0 or more
	 * @return {@code false} if it is not free; then nothing is reserved
	 */
	boolean tryReserve(long bytes);

	/**
	 * Reserves memory. The calling thread may have to wait until memory is free.
	 * @param bytes the number of bytes, 0 or more
	 * @throws MemoryLimitException if that much memory will never be free, or waiting is
	 * over
	 */
	void reserve(long bytes);

	/**
	 * Releases reserved memory.
	 * @param bytes the number of bytes, at most the reserved ones
	 */
	void release(long bytes);

	/**
	 * Whether a thread waits for memory. If so, release buffers that are kept only for
	 * reuse.
	 */
	boolean isScarce();

	/**
	 * The heap memory that an array occupies.
	 * @param bytes the size of its elements
	 */
	static long ofArray(long bytes) {
		return (bytes < HUMONGOUS_BYTES) ? bytes : (bytes + 16 + (1 << 20) - 1) & -(1L << 20);
	}

}
