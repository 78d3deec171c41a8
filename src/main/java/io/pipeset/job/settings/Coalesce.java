package io.pipeset.job.settings;

import java.util.Locale;

/** Whether neighbouring records that Redis can run as one command go as one. */
public enum Coalesce {

	/** If the report is the same as if each of them had gone by itself. */
	AUTO,

	/** Never. */
	OFF;

	/**
	 * The word for it in settings and reports.
	 * @return auto or off
	 */
	public String label() {
		return name().toLowerCase(Locale.ROOT);
	}

}
