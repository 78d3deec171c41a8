package io.pipeset.report;

import io.pipeset.report.Item.Failure;

/**
 * Takes note of what became of each record, for those who ask for all of them later. The
 * reading thread and every lane write to it.
 */
public interface OutcomeLog {

	/**
	 * A record ran.
	 * @param index its place in the job
	 */
	void ran(long index);

	/**
	 * A record did not run as asked.
	 * @param index its place in the job
	 * @param outcome what became of it
	 * @param failure the reason
	 */
	void failed(long index, Outcome outcome, Failure failure);

	/** Some records in a row were entered. */
	void flush();

}
