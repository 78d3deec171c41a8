package io.pipeset.job.settings;

import java.util.Locale;

/** The part of a job that runs as a whole or not at all. */
public enum Atomic {

	/** Each command by itself. */
	NONE,

	/**
	 * Each batch, which is one
	 * <a href="https://redis.io/docs/latest/develop/using-commands/transactions/">
	 * transaction</a>.
	 */
	BATCH;

	/**
	 * The word for it in settings and reports.
	 * @return none or batch
	 */
	public String label() {
		return name().toLowerCase(Locale.ROOT);
	}

}
