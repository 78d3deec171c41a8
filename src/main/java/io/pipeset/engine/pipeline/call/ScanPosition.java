package io.pipeset.engine.pipeline.call;

import org.jspecify.annotations.Nullable;

/**
 * A place in the keyspace of one life of a server, from which SCAN goes on.
 *
 * @param cursor what SCAN answered last
 * @param runId the {@code run_id} of the server's life in which it answered that;
 * {@code null} where INFO is not permitted
 * @param askedNanos when SCAN was asked for this, a time of {@link System#nanoTime()}
 */
public record ScanPosition(String cursor, @Nullable String runId, long askedNanos) {

	private static final String ENDS = "0";

	/** The place before the first key. */
	public static final ScanPosition START = new ScanPosition(ENDS, null, 0);

	/** Whether nothing comes behind this place, or nothing was asked for yet. */
	public boolean isAtAnEnd() {
		return this.cursor.equals(ENDS);
	}

	/**
	 * Finds out if this place means anything to a server. A cursor is a place in a table
	 * that a server orders anew each time it starts.
	 * @param life the {@code run_id} of the server now; {@code null} if it is not known
	 * @param tellsLater whether a server that does not tell its life now may do so in a
	 * moment
	 * @param firstLentNanos when the connection to that server was first lent; if the
	 * connection was open when SCAN was asked for this place, the server has not
	 * restarted since
	 */
	public Standing at(@Nullable String life, boolean tellsLater, long firstLentNanos) {
		boolean same = (this.runId != null && life != null) ? this.runId.equals(life)
				: firstLentNanos - this.askedNanos <= 0;
		if (same || isAtAnEnd()) {
			return Standing.HOLDS;
		}
		return (this.runId != null && life == null && tellsLater) ? Standing.NOT_TOLD : Standing.MEANS_NOTHING;
	}

	/**
	 * The place behind the page that SCAN answered from here.
	 * @param life the {@code run_id} of the server now; {@code null} if it is not known
	 */
	public ScanPosition next(String cursor, @Nullable String life, long askedNanos) {
		return new ScanPosition(cursor, (life != null) ? life : this.runId, askedNanos);
	}

	/** The meaning of a place to a server. */
	public enum Standing {

		/** SCAN goes on from here. */
		HOLDS,

		/** The server was started anew, or may have been. */
		MEANS_NOTHING,

		/** The server does not tell yet which life this is. */
		NOT_TOLD

	}

}
