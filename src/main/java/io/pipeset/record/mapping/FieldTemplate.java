package io.pipeset.record.mapping;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * A field of a hash or of a stream's entry, as the setting {@code fields} has it: a
 * column or member of the same name, {@code name=template}, or {@code {attrs...}} for all
 * members of an object.
 *
 * @param name the name of the field; empty for a spread
 */
public record FieldTemplate(String name, Template template) {

	/**
	 * Parses fields with commas between them. A name, or a template after its {@code =},
	 * stands in quotes if it has a comma, a quote or an equals sign in it, and a quote in
	 * quotes is written twice. Commas in braces do not end a template.
	 * @return the fields, at least one; {@code null} if the text is no such list
	 */
	public static @Nullable List<FieldTemplate> parse(String text) {
		List<FieldTemplate> fields = new ArrayList<>();
		int[] at = { 0 };
		while (true) {
			FieldTemplate field = next(text, at);
			if (field == null) {
				return null;
			}
			fields.add(field);
			if (at[0] == text.length()) {
				return List.copyOf(fields);
			}
			if (text.charAt(at[0]++) != ',') {
				return null;
			}
		}
	}

	private static @Nullable FieldTemplate next(String text, int[] at) {
		if (text.startsWith("{", at[0])) {
			String braces = unquoted(text, at, false);
			Template template = Template.parse(braces);
			return (template != null && template.isSpread()) ? new FieldTemplate("", template) : null;
		}
		String name = word(text, at, true);
		if (name == null || name.isEmpty() || name.equals(Template.WHOLE)) {
			return null;
		}
		if (!text.startsWith("=", at[0])) {
			return new FieldTemplate(name, Template.ofName(name));
		}
		at[0]++;
		String written = word(text, at, false);
		Template template = (written != null) ? Template.parse(written) : null;
		return (template != null && !template.isSpread()) ? new FieldTemplate(name, template) : null;
	}

	private static @Nullable String word(String text, int[] at, boolean name) {
		if (!text.startsWith("\"", at[0])) {
			return unquoted(text, at, name);
		}
		StringBuilder word = new StringBuilder();
		int next = at[0] + 1;
		while (next < text.length()) {
			if (text.charAt(next) != '"') {
				word.append(text.charAt(next++));
			}
			else if (text.startsWith("\"\"", next)) {
				word.append('"');
				next += 2;
			}
			else {
				at[0] = next + 1;
				return word.toString();
			}
		}
		return null;
	}

	/** Reads up to a comma that is not in braces, and for a name up to a {@code =}. */
	private static String unquoted(String text, int[] at, boolean name) {
		int from = at[0];
		int braces = 0;
		int next = from;
		while (next < text.length()) {
			char c = text.charAt(next);
			if (braces == 0 && (c == ',' || (name && c == '='))) {
				break;
			}
			braces += (name) ? 0 : (c == '{') ? 1 : (c == '}' && braces > 0) ? -1 : 0;
			next++;
		}
		at[0] = next;
		return text.substring(from, next);
	}

	/** Writes fields so that {@link #parse} reads them. */
	public static String format(List<?> fields) {
		return fields.stream().map(String::valueOf).collect(Collectors.joining(","));
	}

	/** The field so that {@link #parse} reads it. */
	@Override
	public String toString() {
		if (this.template.isSpread()) {
			return this.template.toString();
		}
		String name = quoted(this.name, ",\"={");
		String written = this.template.toString();
		return (written.equals("{" + this.name + "}")) ? name : name + "=" + quoted(written, ",\"");
	}

	private static String quoted(String text, String special) {
		boolean plain = text.chars().noneMatch((c) -> special.indexOf(c) >= 0);
		return (plain) ? text : '"' + text.replace("\"", "\"\"") + '"';
	}

}
