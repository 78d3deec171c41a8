package io.pipeset.record.json;

/** The kinds of JSON values, as the rules of a record's members tell them apart. */
enum JsonKind {

	STRING, NUMBER, BOOLEAN, NULL, OBJECT, ARRAY;

	/** Whether a value of this kind can be an argument of a command. */
	boolean isArgument() {
		return this == STRING || this == NUMBER || this == BOOLEAN;
	}

	/**
	 * A value as a message shows it.
	 * @param excerpt of its text, for a string without quotes
	 */
	String describe(String excerpt) {
		return switch (this) {
			case STRING -> "the string '" + excerpt + "'";
			case NUMBER -> "the number " + excerpt;
			case BOOLEAN, NULL -> excerpt;
			case OBJECT -> "an object";
			case ARRAY -> "an array";
		};
	}

}
