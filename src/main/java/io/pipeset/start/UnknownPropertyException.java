package io.pipeset.start;

import java.io.Serial;
import java.util.List;
import java.util.StringJoiner;

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
	 * @param suggestions for each of them the known properties with the most similar
	 * names
	 */
	UnknownPropertyException(List<String> unknown, List<String> suggestions) {
		super("The service has no property " + String.join(" or ", unknown) + ".");
		StringJoiner remedies = new StringJoiner(" ");
		for (int i = 0; i < unknown.size(); i++) {
			String name = unknown.get(i).substring(0, unknown.get(i).indexOf(' '));
			remedies.add("Remove " + name + ", or correct its name; the most similar are " + suggestions.get(i) + ".");
		}
		this.remedy = remedies.toString();
	}

	String remedy() {
		return this.remedy;
	}

}
