package io.pipeset.report;

/**
 * The records of a job by outcome.
 *
 * @param received the records read, or to be generated: the sum of the others
 * @param applied Redis ran them
 * @param noop Redis ran them and there was nothing to do
 * @param rejected refused by Redis or by the service
 * @param unknown written, and no reply was read
 * @param unprocessed certainly not run
 */
public record Counts(long received, long applied, long noop, long rejected, long unknown, long unprocessed) {

	/**
	 * The same records when nobody can say any more that the unprocessed ones were not
	 * sent.
	 */
	Counts nothingIsUnsent() {
		return new Counts(this.received, this.applied, this.noop, this.rejected, this.unknown + this.unprocessed, 0);
	}

	/**
	 * The records a caller has to look at.
	 * @return rejected + unknown + unprocessed
	 */
	public long errors() {
		return this.rejected + this.unknown + this.unprocessed;
	}

}
