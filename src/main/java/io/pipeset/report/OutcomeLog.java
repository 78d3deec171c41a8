package io.pipeset.report;

import io.pipeset.report.Item.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A log of the outcome of each record, from which all outcomes can be read later, even if
 * the service crashes. The reading thread and all lanes write to it.
 */
public interface OutcomeLog {

	/**
	 * Logs that a connection will be used for records.
	 * @param node the service's name of the server
	 * @param clientId the connection's id from CLIENT ID; {@code null} if it is not known
	 * @param runId the {@code run_id} of the server; {@code null} if it is not known
	 */
	void connected(String node, @Nullable Long clientId, @Nullable String runId);

	/**
	 * Logs that a record will be written to Redis.
	 * @param index its index in the job
	 */
	void sent(long index);

	/**
	 * Logs that a record ran.
	 * @param index its index in the job
	 * @param noop whether it had no effect
	 */
	void ran(long index, boolean noop);

	/**
	 * Logs that a record failed.
	 * @param index its index in the job
	 * @param outcome its outcome
	 * @param failure the reason
	 */
	void failed(long index, Outcome outcome, Failure failure);

	/**
	 * Logs that a record may have run: it was written, and its connection ended before
	 * its reply. No later record on the same connection has a reply.
	 * @param index its index in the job
	 * @param failure the reason
	 */
	default void unanswered(long index, Failure failure) {
		failed(index, Outcome.UNKNOWN, failure);
	}

	/** Flushes the entries of a sequence of records. */
	void flush();

	/**
	 * Checks that a later process would not take a record for unsent whose entry is lost.
	 * @throws IllegalStateException if it would: nothing more may be sent
	 */
	default void requireSafe() {
	}

	/**
	 * A log for further commands of the same job, which are no records.
	 * @return a log that only has their connections
	 */
	default OutcomeLog ofConnections() {
		OutcomeLog all = this;
		return new OutcomeLog() {

			@Override
			public void connected(String node, @Nullable Long clientId, @Nullable String runId) {
				all.connected(node, clientId, runId);
			}

			@Override
			public void sent(long index) {
			}

			@Override
			public void ran(long index, boolean noop) {
			}

			@Override
			public void failed(long index, Outcome outcome, Failure failure) {
			}

			@Override
			public void flush() {
				all.flush();
			}

		};
	}

}
