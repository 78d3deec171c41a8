package io.pipeset.record.grammar;

/** The kinds of JSON values that the rules for members distinguish. */
public enum JsonKind {

	STRING, NUMBER, BOOLEAN, NULL, OBJECT, ARRAY;

	/** Whether a value of this kind can be an argument of a command. */
	public boolean isArgument() {
		return this == STRING || this == NUMBER || this == BOOLEAN;
	}

	/**
	 * Describes a value in a message.
	 * @param excerpt an excerpt of its text; a string is given without quotes
	 */
	public String describe(String excerpt) {
		return switch (this) {
			case STRING -> "the string '" + excerpt + "'";
			case NUMBER -> "the number " + excerpt;
			case BOOLEAN, NULL -> excerpt;
			case OBJECT -> "an object";
			case ARRAY -> "an array";
		};
	}

}
