package io.pipeset.record.json;

import io.pipeset.record.encoding.Excerpt;

/**
 * A place where a record is not the JSON it should be. The exception has no stack trace,
 * because a body may consist of nothing but faults.
 */
final class JsonFault extends Exception {

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
	 * A break of the grammar, after which the rest of the record cannot be trusted.
	 */
	static JsonFault grammar(int offset, String text) {
		return new JsonFault(offset, text, true);
	}

	/** A byte in the place where the grammar asks for another one. */
	static JsonFault expected(String what, byte[] bytes, int at, int end) {
		return grammar(at, "expected " + what + ", found " + ((at < end) ? Excerpt.ofByte(bytes[at]) : "the end"));
	}

	/** A value that keeps the grammar of JSON and is refused for its content. */
	static JsonFault content(int offset, String text) {
		return new JsonFault(offset, text, false);
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

}
