package io.pipeset.record;

/**
 * A place where a record is not the JSON it should be. Without a stack trace, because a
 * body may consist of nothing else.
 */
final class JsonFault extends Exception {

	private static final String[] NAMES = names();

	private final int offset;

	private final String text;

	private final boolean grammar;

	private JsonFault(int offset, String text, boolean grammar) {
		super(text, null, false, false);
		this.offset = offset;
		this.text = text;
		this.grammar = grammar;
	}

	/**
	 * Something that cannot stand where it does, so that what follows cannot be trusted.
	 */
	static JsonFault grammar(int offset, String text) {
		return new JsonFault(offset, text, true);
	}

	/** Something found where the grammar asks for something else. */
	static JsonFault expected(String what, byte[] bytes, int at, int end) {
		return grammar(at, "expected " + what + ", found " + ((at < end) ? name(bytes[at]) : "the end"));
	}

	/** Something that has the form of JSON and is refused for what it holds. */
	static JsonFault content(int offset, String text) {
		return new JsonFault(offset, text, false);
	}

	/** A byte as a message shows it. */
	static String name(byte b) {
		return NAMES[b & 0xFF];
	}

	int offset() {
		return this.offset;
	}

	String text() {
		return this.text;
	}

	boolean breaksGrammar() {
		return this.grammar;
	}

	private static String[] names() {
		String[] names = new String[256];
		for (int i = 0; i < names.length; i++) {
			names[i] = (i > ' ' && i < 0x7F) ? "'" + (char) i + "'" : String.format("byte 0x%02X", i);
		}
		return names;
	}

}
