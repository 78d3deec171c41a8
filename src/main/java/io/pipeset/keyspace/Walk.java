package io.pipeset.keyspace;

import io.pipeset.slab.lookup.Scan;
import org.jspecify.annotations.Nullable;

/**
 * How far an analysis has come in the keys of one server, whichever connection it is on.
 * A page counts when all of its keys are looked at; if a connection is lost before that,
 * the page is asked for again, by the same cursor.
 */
final class Walk {

	/** The cursor of the first page that has not been counted. */
	private String cursor = Scan.START;

	private boolean finished;

	private long pages;

	private long keys;

	/** The run id of the server, whose cursors mean nothing to another. */
	private @Nullable String life;

	/** Whether the last connection was lost, and the server perhaps with it. */
	private boolean lost;

	/** When the last connection was given back. */
	private long left;

	/**
	 * Goes on, on another connection.
	 * @param life the run id of its server, or {@code null}
	 * @param tellsLater whether a server without a run id may tell it to the next one
	 * @param firstLent when the connection was lent for the first time; if the walk still
	 * had its last connection then, the server has not restarted between the two
	 */
	Continuation resume(@Nullable String life, boolean tellsLater, long firstLent) {
		boolean joined = !this.lost && firstLent - this.left <= 0;
		boolean same = (this.life != null && life != null) ? this.life.equals(life) : joined;
		if (this.pages > 0 && !same && this.life != null && life == null && tellsLater) {
			return Continuation.NOT_YET;
		}
		if (life != null || !same) {
			this.life = life;
		}
		this.lost = false;
		return (same || this.pages == 0) ? Continuation.GOES_ON : Continuation.ANEW;
	}

	/**
	 * A page is counted.
	 * @param next the cursor behind it
	 * @param keys the keys of the page that were there
	 */
	void counted(String next, int keys) {
		this.cursor = next;
		this.pages++;
		this.keys += keys;
		this.finished = next.equals(Scan.START);
	}

	/** The connection is given back. */
	void leaves() {
		this.left = System.nanoTime();
	}

	/** The connection was lost. */
	void lost() {
		this.lost = true;
	}

	String cursor() {
		return this.cursor;
	}

	boolean isFinished() {
		return this.finished;
	}

	/** Whether a page is counted. */
	boolean hasBegun() {
		return this.pages > 0;
	}

	/** How many keys are counted. */
	long keys() {
		return this.keys;
	}

	/** The way a walk goes on over a new connection. */
	enum Continuation {

		/** The cursor is good. */
		GOES_ON,

		/** The server was started anew, so the analysis has to begin anew. */
		ANEW,

		/** The server does not tell yet who it is. */
		NOT_YET

	}

}
