package io.pipeset.pipeline.call;

import org.jspecify.annotations.Nullable;

/**
 * A place in the keyspace of one life of a server, from which SCAN goes on.
 *
 * @param cursor what SCAN answered last
 * @param runId the {@code run_id} of the server's life in which it answered that;
 * {@code null} where INFO is not permitted
 * @param askedNanos when SCAN was asked for this, a time of {@link System#nanoTime()}
 */
public record ScanPlace(String cursor, @Nullable String runId, long askedNanos) {

	private static final String ENDS = "0";

	/** The place before the first key. */
	public static final ScanPlace START = new ScanPlace(ENDS, null, 0);

	/** Whether nothing comes behind this place, or nothing was asked for yet. */
	public boolean isAtAnEnd() {
		return this.cursor.equals(ENDS);
	}

	/**
	 * Whether this place means anything to a server. A cursor is a place in a table that
	 * a server orders anew each time it starts.
	 * @param life the {@code run_id} of the server now; {@code null} if it is not known
	 * @param firstLentNanos when the connection to that server was first lent; if the
	 * connection was open when SCAN was asked for this place, the server has not
	 * restarted since
	 */
	boolean isOf(@Nullable String life, long firstLentNanos) {
		if (isAtAnEnd()) {
			return true;
		}
		return (this.runId != null && life != null) ? this.runId.equals(life) : firstLentNanos - this.askedNanos <= 0;
	}

}
