package io.pipeset.engine.lane;

/**
 * How many records of a lane had run after each of its last batches. It tells how many of
 * them Redis has lost, if it has fallen back to an earlier batch.
 */
final class LaneHistory {

	/** The most batches; all of a second of the fastest lane. */
	private static final int BATCHES = 4096;

	private final long[] lasts = new long[BATCHES];

	private final long[] totals = new long[BATCHES];

	private int count;

	private long total;

	/**
	 * Adds a batch.
	 * @param last the index of its last record
	 * @param ran how many of its records ran
	 */
	synchronized void add(long last, int ran) {
		this.total += ran;
		this.lasts[this.count % BATCHES] = last;
		this.totals[this.count % BATCHES] = this.total;
		this.count++;
	}

	/**
	 * Counts the records that ran after a batch.
	 * @param last the index of the last record of the batch
	 * @return all, if the batch is older than those that are kept
	 */
	synchronized long since(long last) {
		for (int batch = this.count - 1; batch >= Math.max(0, this.count - BATCHES); batch--) {
			if (this.lasts[batch % BATCHES] <= last) {
				return this.total - this.totals[batch % BATCHES];
			}
		}
		return this.total;
	}

}
