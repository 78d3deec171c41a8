package io.pipeset.request;

import java.util.Locale;

/** Whether neighbouring records are sent as one command if Redis can run them so. */
public enum Coalesce {

	/** Whenever the report is the same as with a command for each record. */
	AUTO,

	/** Never. */
	OFF;

	/**
	 * The value in settings and reports.
	 * @return auto or off
	 */
	public String label() {
		return name().toLowerCase(Locale.ROOT);
	}

}
