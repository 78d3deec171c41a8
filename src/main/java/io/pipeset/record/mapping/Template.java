package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.grammar.JsonCursor;
import io.pipeset.record.grammar.JsonFault;
import org.jspecify.annotations.Nullable;

/**
 * A text with values in braces, each of which stands for a value of the row:
 * {@code session:{sid}}. Braces that are written twice stand for themselves. A template
 * that is only {@code {tags...}} is a spread: each element of the value is an argument.
 */
public final class Template {

	/** The name of the whole row. */
	public static final String WHOLE = "*";

	/** The name of the row's number, from 0. */
	public static final String INDEX = "@index";

	/** The name of the name of an entry, with {@code rows=entries}. */
	public static final String ENTRY_KEY = "@key";

	/** The name of the value of an entry or an element, or of a row that is no object. */
	public static final String ENTRY_VALUE = "@value";

	/**
	 * Braces around a name that other tools mean as a value, and that are a text here.
	 */
	private static final Pattern DOUBLE_BRACES = Pattern.compile("\\{\\s*([\\p{L}_@*][\\p{L}\\p{N}_.@ -]*?)\\s*}");

	/** A spread with a separator that is none. */
	private static final Pattern SEVERAL = Pattern.compile("(?s).*[^.]\\.\\.\\.\\([^)]*\\)");

	private final String text;

	/** The text before the first value, between the values, and after the last one. */
	private final List<String> literals;

	private final List<Value> values;

	private Template(String text, List<String> literals, List<Value> values) {
		this.text = text;
		this.literals = literals;
		this.values = values;
	}

	/**
	 * Parses a template.
	 * @throws TemplateException if braces do not match, or a spread is not the whole of
	 * it
	 */
	public static Template parse(String text) {
		List<String> literals = new ArrayList<>();
		List<Value> values = new ArrayList<>();
		StringBuilder literal = new StringBuilder();
		int at = 0;
		while (at < text.length()) {
			char c = text.charAt(at);
			boolean brace = c == '{' || c == '}';
			if (brace && at + 1 < text.length() && text.charAt(at + 1) == c) {
				literal.append(c);
				at += 2;
			}
			else if (brace) {
				int end = (c == '{') ? text.indexOf('}', at) : -1;
				String name = (end < 0) ? "" : text.substring(at + 1, end);
				if (name.isEmpty() || name.indexOf('{') >= 0) {
					throw TemplateException.noTemplate();
				}
				literals.add(literal.toString());
				literal.setLength(0);
				values.add(Value.parse(name));
				at = end + 1;
			}
			else {
				literal.append(c);
				at++;
			}
		}
		literals.add(literal.toString());
		Template template = new Template(text, List.copyOf(literals), List.copyOf(values));
		template.checkSpread();
		return template;
	}

	private void checkSpread() {
		boolean alone = this.values.size() == 1 && this.literals.get(0).isEmpty() && this.literals.get(1).isEmpty();
		for (Value value : this.values) {
			if (value.isSpread() && value.text().startsWith(WHOLE) && !value.text().equals(WHOLE + "...")) {
				throw new TemplateException("has '{" + Excerpt.of(value.text())
						+ "}': the whole row is spread by {*...}, without a form, a step or a separator");
			}
			if (!value.isSpread() && SEVERAL.matcher(value.text()).matches()) {
				throw new TemplateException("has the spread '{" + Excerpt.of(value.text())
						+ "}', whose separator is not one character, as in {tags...(,)}; blanks around parts are"
						+ " taken off");
			}
			if (value.isSpread() && !alone) {
				throw new TemplateException("has the spread '{" + Excerpt.of(value.text()) + "}' in a text, and a"
						+ " spread is a whole word: several values. For a record of each element, use"
						+ " rows=items:PATH and {@value}; for one text of all, {tags:join(,)}");
			}
		}
	}

	/** A template that is one name, which has neither form nor default. */
	static Template ofName(String name) {
		return new Template("{" + name + "}", List.of("", ""), List.of(Value.ofName(name)));
	}

	/** Whether it is a name, and that name has neither form nor default. */
	boolean isPlain(String name) {
		return this.text.equals("{" + name + "}") && this.values.equals(List.of(Value.ofName(name)));
	}

	/** Whether each element of its only value is an argument of its own. */
	public boolean isSpread() {
		return !this.values.isEmpty() && this.values.get(0).isSpread();
	}

	/** Whether it is the same for all rows. */
	public boolean isLiteral() {
		return this.values.isEmpty();
	}

	/**
	 * The values, in their order.
	 * @return none if the template is the same for all rows
	 */
	List<Value> values() {
		return this.values;
	}

	/** The bytes around the values, one more than there are values. */
	byte[][] literals() {
		return this.literals.stream().map((literal) -> literal.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
	}

	/** The text of a template without values. */
	public String literal() {
		return this.literals.get(0);
	}

	/**
	 * Where its values stand, if it is a text of JSON: it has a value, begins with a
	 * brace or bracket, and ends with its partner.
	 * @return whether each value stands between double quotes; {@code null} if the
	 * template is no such text
	 */
	boolean @Nullable [] quotedValues() {
		String first = this.literals.get(0).stripLeading();
		String last = this.literals.get(this.literals.size() - 1).stripTrailing();
		boolean json = !isLiteral()
				&& ((first.startsWith("{") && last.endsWith("}")) || (first.startsWith("[") && last.endsWith("]")));
		if (!json) {
			return null;
		}
		boolean[] quoted = new boolean[this.values.size()];
		boolean inQuotes = false;
		for (int i = 0; i < quoted.length; i++) {
			String literal = this.literals.get(i);
			for (int at = 0; at < literal.length(); at++) {
				char c = literal.charAt(at);
				at += (inQuotes && c == '\\') ? 1 : 0;
				inQuotes ^= c == '"';
			}
			quoted[i] = inQuotes;
		}
		return quoted;
	}

	/**
	 * Why a text of JSON would be none with good values, or with its defaults.
	 * @return the problem, to follow the name of a setting; {@code null} if it is fine
	 */
	public @Nullable String problemOfJson() {
		boolean[] quoted = quotedValues();
		if (quoted == null) {
			return null;
		}
		for (boolean defaults : new boolean[] { false, true }) {
			StringBuilder sample = new StringBuilder(this.literals.get(0));
			for (int i = 0; i < quoted.length; i++) {
				String otherwise = (defaults) ? this.values.get(i).otherwise() : null;
				sample.append((otherwise != null) ? otherwise : (quoted[i]) ? "" : "null")
					.append(this.literals.get(i + 1));
			}
			byte[] bytes = sample.toString().getBytes(StandardCharsets.UTF_8);
			JsonCursor cursor = new JsonCursor();
			try {
				cursor.begin(bytes, 0, bytes.length);
				cursor.readValue(0);
				cursor.expectEnd();
			}
			catch (JsonFault fault) {
				return "begins and ends as JSON, and is none" + ((defaults) ? " with its default" : "") + ": "
						+ fault.text() + " (byte " + fault.offset() + " of " + Excerpt.of(sample.toString())
						+ "); braces that are JSON's are written twice";
			}
		}
		return null;
	}

	/**
	 * Names that stand in braces written twice, as other tools spell a value.
	 * @param whole whether only a template counts that is nothing else
	 */
	List<String> doubleBraces(boolean whole) {
		if (quotedValues() != null || (whole && !isLiteral())) {
			return List.of();
		}
		return this.literals.stream()
			.flatMap((literal) -> (whole)
					? DOUBLE_BRACES.matcher(literal)
						.results()
						.filter((found) -> found.start() == 0 && found.end() == literal.length())
					: DOUBLE_BRACES.matcher(literal).results())
			.map((found) -> found.group(1))
			.toList();
	}

	/**
	 * Finds out whether it is {@code {{name}}}, which would be the same text for all
	 * rows.
	 * @return the problem, to follow the name of a setting; {@code null} if it is fine
	 */
	public @Nullable String problemOfBraces() {
		List<String> names = doubleBraces(true);
		return (names.isEmpty()) ? null : bracesMessage(names.get(0));
	}

	static String bracesMessage(String name) {
		return "has {{" + Excerpt.of(name) + "}}, which is the text '{" + Excerpt.of(name)
				+ "}' here, because doubled braces stand for themselves: write {" + Excerpt.of(name)
				+ "} for the value";
	}

	/** The template as it was written. */
	@Override
	public String toString() {
		return this.text;
	}

}
