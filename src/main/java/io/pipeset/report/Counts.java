package io.pipeset.report;

/**
 * The records of a job by outcome.
 *
 * @param received the records read or generated: the sum of the others
 * @param applied Redis ran them
 * @param noop Redis ran them without effect
 * @param rejected Redis or the service refused them
 * @param unknown they were written and no reply was read
 * @param unprocessed they certainly did not run
 */
public record Counts(long received, long applied, long noop, long rejected, long unknown, long unprocessed) {

	/**
	 * The same records, with the unprocessed ones as unknown because they may have been
	 * sent since.
	 */
	Counts withUnprocessedAsUnknown() {
		return new Counts(this.received, this.applied, this.noop, this.rejected, this.unknown + this.unprocessed, 0);
	}

	/**
	 * The records that the caller must check.
	 * @return rejected + unknown + unprocessed
	 */
	public long errors() {
		return this.rejected + this.unknown + this.unprocessed;
	}

}
