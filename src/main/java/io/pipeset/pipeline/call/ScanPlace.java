package io.pipeset.pipeline.call;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A place in the keyspace of one life of a server, from which SCAN goes on.
 *
 * @param cursor what SCAN answered last
 * @param runId the {@code run_id} of the server's life in which it answered that;
 * {@code null} where INFO is not permitted, or was not answered
 * @param inDoubt whether a call has failed since, so that the server may have begun
 * another life
 */
public record ScanPlace(String cursor, @Nullable String runId, boolean inDoubt) {

	private static final String ENDS = "0";

	/** The place before the first key. */
	public static final ScanPlace START = new ScanPlace(ENDS, null, false);

	/**
	 * This place after a call that failed.
	 * @return the same place, in doubt
	 */
	public ScanPlace doubted() {
		return new ScanPlace(this.cursor, this.runId, true);
	}

	/**
	 * Whether nothing comes behind this place, or nothing was asked for yet.
	 * @return {@code false} in the middle of the keyspace
	 */
	public boolean isAtAnEnd() {
		return this.cursor.equals(ENDS);
	}

	/**
	 * Whether this place means anything to a server. A cursor is a place in a table that
	 * a server orders anew each time it starts.
	 * @param life the {@code run_id} of the server now; {@code null} if it is not known
	 */
	boolean isOf(@Nullable String life) {
		return isAtAnEnd() || (Objects.equals(this.runId, life) && (life != null || !this.inDoubt));
	}

}
