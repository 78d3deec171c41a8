package io.pipeset.keyspace;

import java.util.concurrent.TimeUnit;

import io.pipeset.slab.lookup.Scan;
import org.jspecify.annotations.Nullable;

/**
 * How far an analysis has come in the keyspace, whichever connection it is on. A page
 * counts when all of its keys are looked at; if a connection is lost before that, the
 * page is asked for again, by the same cursor.
 */
final class Walk {

	/** How early a page may be. A sleep is not more exact. */
	private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private final @Nullable Long rateLimit;

	/** The cursor of the first page that has not been counted. */
	private String cursor = Scan.START;

	private boolean finished;

	private long pages;

	private int restarts;

	/** The run id of the server, whose cursors mean nothing to another. */
	private @Nullable String life;

	/** Whether the last connection was lost, and the server perhaps with it. */
	private boolean lost;

	/** When the last connection was given back. */
	private long left;

	private long since;

	private long keys;

	Walk(@Nullable Long rateLimit) {
		this.rateLimit = rateLimit;
	}

	/**
	 * Goes on, on another connection.
	 * @param life the run id of its server, or {@code null}
	 * @param firstLent when the connection was lent for the first time: if that was
	 * before the walk left the last one, both are to the same life of the server
	 * @return what is known of the cursor there
	 */
	Continuation resume(@Nullable String life, long firstLent) {
		boolean joined = !this.lost && (this.pages == 0 || firstLent - this.left <= 0);
		if (life == null && this.life != null) {
			return (joined) ? Continuation.GOES_ON : Continuation.NOT_YET;
		}
		boolean same = (this.life != null) ? this.life.equals(life) : joined;
		this.life = life;
		this.lost = false;
		if (same || this.pages == 0) {
			return Continuation.GOES_ON;
		}
		this.cursor = Scan.START;
		this.pages = 0;
		this.finished = false;
		this.restarts++;
		return Continuation.ANEW;
	}

	/** A page is counted. */
	void counted(String next) {
		this.cursor = next;
		this.pages++;
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

	/** Takes note of keys that are about to be looked at. */
	void scanned(int count) {
		long now = System.nanoTime();
		if (this.since == 0 || now - due() > SLACK_NANOS) {
			// What could not be done in time is not made up for by a burst.
			this.since = now;
			this.keys = 0;
		}
		this.keys += count;
	}

	private long due() {
		Long rate = this.rateLimit;
		return (rate != null) ? this.since + (long) ((double) this.keys * TimeUnit.SECONDS.toNanos(1) / rate)
				: this.since;
	}

	/** How long the next page has to wait, in nanoseconds; 0 if it is due. */
	long early() {
		long early = (this.rateLimit != null && this.since != 0) ? due() - System.nanoTime() : 0;
		return (early > SLACK_NANOS) ? early : 0;
	}

	String cursor() {
		return this.cursor;
	}

	boolean isFinished() {
		return this.finished;
	}

	/** How many pages are counted. */
	long pages() {
		return this.pages;
	}

	int restarts() {
		return this.restarts;
	}

	/** What a new connection means for the walk. */
	enum Continuation {

		/** The cursor is good. */
		GOES_ON,

		/** The server was started anew, and so is the walk. */
		ANEW,

		/** The server does not tell yet who it is. */
		NOT_YET

	}

}
