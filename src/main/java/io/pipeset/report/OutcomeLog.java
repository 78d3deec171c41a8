package io.pipeset.report;

import io.pipeset.report.Item.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Takes note of what became of each record, for those who ask for all of them later, also
 * if the service ends at any moment. The reading thread and every lane write to it.
 */
public interface OutcomeLog {

	/**
	 * A connection is about to be used for records.
	 * @param node the server as the service names it
	 * @param clientId its number there; {@code null} where nobody may ask for it
	 * @param runId the life of the server; {@code null} where it is not known
	 */
	void connected(String node, @Nullable Long clientId, @Nullable String runId);

	/**
	 * A record is about to be written to Redis.
	 * @param index its place in the job
	 */
	void sent(long index);

	/**
	 * A record ran.
	 * @param index its place in the job
	 * @param noop whether there was nothing to do
	 */
	void ran(long index, boolean noop);

	/**
	 * A record did not run as asked.
	 * @param index its place in the job
	 * @param outcome what became of it
	 * @param failure the reason
	 */
	void failed(long index, Outcome outcome, Failure failure);

	/**
	 * A record may have run: it was written, and its reply was not read before its
	 * connection ended. No later record of its connection has a reply.
	 * @param index its place in the job
	 * @param failure the reason
	 */
	default void unanswered(long index, Failure failure) {
		failed(index, Outcome.UNKNOWN, failure);
	}

	/** Some records in a row were entered. */
	void flush();

}
