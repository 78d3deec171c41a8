package io.pipeset.web.access;

import java.io.Serial;

/** The properties that say who may call cannot stand as they are. */
final class RefusedAccessException extends IllegalStateException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String remedy;

	/**
	 * Refuses the start.
	 * @param problem the properties, and never a value that may be a key
	 * @param remedy the properties to set
	 */
	RefusedAccessException(String problem, String remedy) {
		super(problem);
		this.remedy = remedy;
	}

	String remedy() {
		return this.remedy;
	}

}
