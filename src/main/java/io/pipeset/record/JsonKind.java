package io.pipeset.record;

/** The kinds of JSON values, as the rules of a record's members tell them apart. */
enum JsonKind {

	STRING, NUMBER, BOOLEAN, NULL, OBJECT, ARRAY;

	private static final int LONGEST_EXCERPT = 64;

	/** Whether an argument of a command can be made of it. */
	boolean isArgument() {
		return this == STRING || this == NUMBER || this == BOOLEAN;
	}

	/**
	 * A value as a message shows it.
	 * @param text its text, for a string without quotes
	 */
	String describe(String text) {
		return switch (this) {
			case STRING -> "the string '" + excerpt(text) + "'";
			case NUMBER -> "the number " + excerpt(text);
			case BOOLEAN, NULL -> text;
			case OBJECT -> "an object";
			case ARRAY -> "an array";
		};
	}

	/** The beginning of a text, short enough for a message. */
	static String excerpt(String text) {
		if (text.length() <= LONGEST_EXCERPT) {
			return text;
		}
		boolean splitsPair = Character.isHighSurrogate(text.charAt(LONGEST_EXCERPT - 1));
		return text.substring(0, (splitsPair) ? LONGEST_EXCERPT - 1 : LONGEST_EXCERPT) + "…";
	}

}
