package io.pipeset.report;

import org.jspecify.annotations.Nullable;

/** The losses of Redis that a job met, as far as its report has to speak of them. */
public final class Losses {

	private @Nullable Boolean fenced;

	private long unconfirmed;

	/** A job that has lost nothing yet. */
	Losses() {
	}

	/**
	 * Takes note of whether a lost connection's commands were kept from running later.
	 * @param fenced {@code false} where they may still run
	 */
	public synchronized void fenced(boolean fenced) {
		this.fenced = fenced && !Boolean.FALSE.equals(this.fenced);
	}

	/**
	 * Whether all commands that were on their way on lost connections were kept from
	 * running later.
	 * @return {@code null} if no connection with commands on their way was lost
	 */
	public synchronized @Nullable Boolean fenced() {
		return this.fenced;
	}

	/**
	 * Takes note of records that ran, and that too few replicas have confirmed. They are
	 * counted as unknown as well.
	 * @param records how many
	 */
	public synchronized void unconfirmed(long records) {
		this.unconfirmed += records;
	}

	/**
	 * The unknown records that ran, and that too few replicas have confirmed.
	 * @return how many
	 */
	public synchronized long unconfirmed() {
		return this.unconfirmed;
	}

}
