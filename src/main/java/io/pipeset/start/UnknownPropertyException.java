package io.pipeset.start;

import java.io.Serial;
import java.util.List;
import java.util.StringJoiner;

/**
 * The configuration has a property under {@code pipeset} that the service does not have.
 */
final class UnknownPropertyException extends IllegalStateException {

	@Serial
	private static final long serialVersionUID = 1L;

	private final String remedy;

	/**
	 * An exception.
	 * @param unknown the properties, each with the source that has it
	 * @param nearest for each of them the known ones that are spelled alike
	 */
	UnknownPropertyException(List<String> unknown, List<String> nearest) {
		super("The service has no property " + String.join(", nor ", unknown) + ".");
		StringJoiner remedies = new StringJoiner(" ");
		for (int i = 0; i < unknown.size(); i++) {
			String name = unknown.get(i).substring(0, unknown.get(i).indexOf(' '));
			remedies
				.add("Remove " + name + ", or spell it as one that there is; the nearest are " + nearest.get(i) + ".");
		}
		this.remedy = remedies.toString();
	}

	String remedy() {
		return this.remedy;
	}

}
