package io.pipeset.start;

import java.io.Serial;
import java.util.List;

/**
 * The configuration has a property under {@code pipeset} that the service does not know.
 */
final class UnknownPropertyException extends IllegalStateException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String remedy;

	/**
	 * Creates an exception.
	 * @param unknown the unknown properties, each followed by a space and its source
	 * @param remedies for each of them a sentence that says what to do
	 */
	UnknownPropertyException(List<String> unknown, List<String> remedies) {
		super("The service has no property " + String.join(" or ", unknown) + ".");
		this.remedy = String.join(" ", remedies);
	}

	String remedy() {
		return this.remedy;
	}

}
