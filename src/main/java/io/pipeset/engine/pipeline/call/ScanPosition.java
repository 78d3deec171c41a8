package io.pipeset.engine.pipeline.call;

import org.jspecify.annotations.Nullable;

/**
 * A position in a server's keyspace from which SCAN continues.
 *
 * @param cursor the last cursor that SCAN returned
 * @param runId the {@code run_id} of the server that returned the cursor; {@code null} if
 * INFO is not allowed
 * @param sentNanos when the SCAN that returned the cursor was sent, a time of
 * {@link System#nanoTime()}
 */
public record ScanPosition(String cursor, @Nullable String runId, long sentNanos) {

	private static final String START_OR_END = "0";

	/** The position before the first key. */
	public static final ScanPosition START = new ScanPosition(START_OR_END, null, 0);

	/** Whether the scan is complete or has not begun. */
	public boolean isAtAnEnd() {
		return this.cursor.equals(START_OR_END);
	}

	/**
	 * Checks whether this position is valid for a server. A cursor is a position in a
	 * hash table, and a server builds a different table after a restart.
	 * @param currentRunId the {@code run_id} of the server now; {@code null} if it is not
	 * known
	 * @param firstLentNanos when the connection to that server was first lent; if that
	 * was before the SCAN for this position, the server has not restarted since
	 * @return {@code false} if the server has restarted, or may have
	 */
	public boolean holds(@Nullable String currentRunId, long firstLentNanos) {
		boolean same = (this.runId != null && currentRunId != null) ? this.runId.equals(currentRunId)
				: firstLentNanos - this.sentNanos <= 0;
		return same || isAtAnEnd();
	}

	/**
	 * The position after the page that SCAN returned for this position.
	 * @param currentRunId the {@code run_id} of the server now; {@code null} if it is not
	 * known
	 */
	public ScanPosition next(String cursor, @Nullable String currentRunId, long sentNanos) {
		return new ScanPosition(cursor, (currentRunId != null) ? currentRunId : this.runId, sentNanos);
	}

}
