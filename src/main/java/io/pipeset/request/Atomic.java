package io.pipeset.request;

import java.util.Locale;

/** The unit of atomicity of a job. */
public enum Atomic {

	/** Each command. */
	NONE,

	/**
	 * Each batch, which is sent as one
	 * <a href="https://redis.io/docs/latest/develop/using-commands/transactions/">
	 * transaction</a>.
	 */
	BATCH;

	/**
	 * The value in settings and reports.
	 * @return none or batch
	 */
	public String label() {
		return name().toLowerCase(Locale.ROOT);
	}

}
