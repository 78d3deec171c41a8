package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A text with names in braces, which each row's values replace: {@code session:{sid}}. A
 * doubled brace stands for a single brace.
 */
public final class Template {

	/** Stands for the whole row as JSON. */
	public static final String WHOLE = "*";

	/**
	 * The largest number of steps in a name, separated by dots. It is the largest nesting
	 * depth of JSON.
	 */
	public static final int MOST_STEPS = 64;

	private final String text;

	/** The texts before, between and after the names, one more than there are names. */
	private final List<String> literals;

	private final List<String> names;

	private Template(String text, List<String> literals, List<String> names) {
		this.text = text;
		this.literals = literals;
		this.names = names;
	}

	/**
	 * Reads a template.
	 * @return the template, or {@code null} if its braces do not match
	 */
	public static @Nullable Template parse(String text) {
		List<String> literals = new ArrayList<>();
		List<String> names = new ArrayList<>();
		StringBuilder literal = new StringBuilder();
		int at = 0;
		while (at < text.length()) {
			char c = text.charAt(at);
			boolean brace = c == '{' || c == '}';
			if (brace && at + 1 < text.length() && text.charAt(at + 1) == c) {
				literal.append(c);
				at += 2;
			}
			else if (c == '{') {
				int end = text.indexOf('}', at);
				String name = (end < 0) ? "" : text.substring(at + 1, end);
				if (name.isEmpty() || name.indexOf('{') >= 0) {
					return null;
				}
				literals.add(literal.toString());
				literal.setLength(0);
				names.add(name);
				at = end + 1;
			}
			else if (brace) {
				return null;
			}
			else {
				literal.append(c);
				at++;
			}
		}
		literals.add(literal.toString());
		return new Template(text, List.copyOf(literals), List.copyOf(names));
	}

	/**
	 * The names, in the order of the text.
	 * @return the names; a name may occur several times; empty if the template is the
	 * same for all rows
	 */
	public List<String> names() {
		return this.names;
	}

	/** The texts before, between and after the names, as UTF-8. */
	byte[][] literals() {
		return this.literals.stream().map((literal) -> literal.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
	}

	/** The template in its original form. */
	@Override
	public String toString() {
		return this.text;
	}

}
