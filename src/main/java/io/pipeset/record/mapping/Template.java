package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A text with names in braces, each of which stands for a value of the row:
 * {@code session:{sid}}. Braces that are written twice stand for themselves. A template
 * that is only {@code {tags...}} is a spread: each element of the value is an argument.
 */
public final class Template {

	/** The name of the whole row as JSON. */
	public static final String WHOLE = "*";

	/** The name of the row's number, from 0. */
	public static final String INDEX = "@index";

	/** The name of the name of an entry, with {@code rows=entries}. */
	public static final String ENTRY_KEY = "@key";

	/** The name of the value of an entry, with {@code rows=entries}. */
	public static final String ENTRY_VALUE = "@value";

	/** The most steps of a name, with dots between them: JSON nests no deeper. */
	public static final int MOST_STEPS = 64;

	private static final String SPREAD = "...";

	private final String text;

	/** The text before the first name, between the names, and after the last one. */
	private final List<String> literals;

	private final List<String> names;

	private final boolean spread;

	private Template(String text, List<String> literals, List<String> names, boolean spread) {
		this.text = text;
		this.literals = literals;
		this.names = names;
		this.spread = spread;
	}

	/**
	 * Parses a template.
	 * @return the template, or {@code null} if its braces do not match, or a spread is
	 * not the whole of it
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
		return of(text, literals, names);
	}

	private static @Nullable Template of(String text, List<String> literals, List<String> names) {
		if (names.stream().noneMatch(Template::isSpread)) {
			return new Template(text, List.copyOf(literals), List.copyOf(names), false);
		}
		String name = names.get(0).substring(0, Math.max(0, names.get(0).length() - SPREAD.length()));
		boolean only = names.size() == 1 && literals.get(0).isEmpty() && literals.get(1).isEmpty();
		return (only) ? new Template(text, List.of("", ""), List.of(name), true) : null;
	}

	/** Whether a name ends as a spread does, and is not dots alone. */
	private static boolean isSpread(String name) {
		return name.endsWith(SPREAD) && name.chars().anyMatch((character) -> character != '.');
	}

	/** A template that is one name. */
	static Template ofName(String name) {
		return new Template("{" + name + "}", List.of("", ""), List.of(name), false);
	}

	/** Whether each element of its only value is an argument of its own. */
	public boolean isSpread() {
		return this.spread;
	}

	/**
	 * The names, in their order.
	 * @return the names, of which one may stand several times; none if the template is
	 * the same for all rows
	 */
	public List<String> names() {
		return this.names;
	}

	/**
	 * Finds out whether a name in a template ends with a form that does not exist, such
	 * as {@code :f31}.
	 * @return what is wrong with it, to follow the name of a setting; {@code null} if the
	 * name is fine
	 */
	public static @Nullable String problemOfForm(String name) {
		return Form.problem(name);
	}

	/** The bytes around the names, one more than there are names. */
	byte[][] literals() {
		return this.literals.stream().map((literal) -> literal.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
	}

	/** The text of a template without names. */
	String literal() {
		return this.literals.get(0);
	}

	/** The template as it was written. */
	@Override
	public String toString() {
		return this.text;
	}

}
