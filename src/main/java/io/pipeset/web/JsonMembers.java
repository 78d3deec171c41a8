package io.pipeset.web;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * Reads the members of a JSON object that the service has written, and holds no more than
 * a piece of a value: Jackson's parser holds each string as a whole.
 */
final class JsonMembers implements AutoCloseable {

	private static final int PIECE = 8 << 10;

	private final Reader json;

	private final char[] piece = new char[PIECE];

	private int next;

	private int end;

	/**
	 * Begins with the first member.
	 * @param json a JSON object in UTF-8, whose own names have no escapes; closed with
	 * this
	 */
	JsonMembers(InputStream json) {
		this.json = new InputStreamReader(json, StandardCharsets.UTF_8);
	}

	/**
	 * The name of the next member, whose value is then to be copied.
	 * @return {@code null} behind the last one
	 */
	@Nullable String next() throws IOException {
		char letter = take();
		while (letter != '"' && letter != '}') {
			letter = take();
		}
		if (letter == '}') {
			return null;
		}
		StringBuilder name = new StringBuilder();
		for (letter = take(); letter != '"'; letter = take()) {
			name.append(letter);
		}
		while (letter != ':') {
			letter = take();
		}
		return name.toString();
	}

	/** Copies a member's value as it is. */
	void copyValue(Writer out) throws IOException {
		int depth = 0;
		boolean string = false;
		boolean escaped = false;
		while (true) {
			peek();
			int from = this.next;
			for (; this.next < this.end; this.next++) {
				char letter = this.piece[this.next];
				if (string) {
					string = escaped || letter != '"';
					escaped = !escaped && letter == '\\';
				}
				else if (depth == 0 && (letter == ',' || letter == '}')) {
					out.write(this.piece, from, this.next - from);
					return;
				}
				else {
					string = letter == '"';
					depth += (letter == '{' || letter == '[') ? 1 : (letter == '}' || letter == ']') ? -1 : 0;
				}
			}
			out.write(this.piece, from, this.end - from);
		}
	}

	private char take() throws IOException {
		peek();
		return this.piece[this.next++];
	}

	/** Sees to it that the next letter is there. */
	private void peek() throws IOException {
		if (this.next == this.end) {
			this.next = 0;
			this.end = Math.max(0, this.json.read(this.piece));
			if (this.end == 0) {
				throw new EOFException("A report ends within its JSON");
			}
		}
	}

	@Override
	public void close() throws IOException {
		this.json.close();
	}

}
