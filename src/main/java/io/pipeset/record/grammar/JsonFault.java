package io.pipeset.record.grammar;

import io.pipeset.record.encoding.Excerpt;

/**
 * A mistake in a record's JSON, and its position. The exception has no stack trace,
 * because a body may contain many mistakes.
 */
public final class JsonFault extends Exception {

	private final int offset;

	private final String text;

	private final boolean grammar;

	private JsonFault(int offset, String text, boolean grammar) {
		super(text, null, false, false);
		this.offset = offset;
		this.text = text;
		this.grammar = grammar;
	}

	/** A mistake in the grammar, after which the rest of the record cannot be read. */
	public static JsonFault grammar(int offset, String text) {
		return new JsonFault(offset, text, true);
	}

	/** A byte that the grammar does not allow here. */
	public static JsonFault expected(String what, byte[] bytes, int at, int end) {
		return grammar(at, "expected " + what + ", found " + ((at < end) ? Excerpt.ofByte(bytes[at]) : "the end"));
	}

	/** A value that follows the grammar of JSON, but has refused content. */
	public static JsonFault content(int offset, String text) {
		return new JsonFault(offset, text, false);
	}

	public int offset() {
		return this.offset;
	}

	public String text() {
		return this.text;
	}

	public boolean breaksGrammar() {
		return this.grammar;
	}

}
