package io.pipeset.record.mapping;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * A field of a hash or of a stream's entry, as the setting {@code fields} has it: a
 * column or member of the same name, {@code name=template}, {@code {attrs...}} for all
 * members of an object, or {@code -name} for all values of the row but this one.
 *
 * @param name the name of the field; empty for a spread
 * @param omits whether all values but those of such names are fields
 */
public record FieldTemplate(String name, Template template, boolean omits) {

	/**
	 * Parses fields with commas between them. A name, or a template after its {@code =},
	 * stands in quotes if it has a comma, a quote or an equals sign in it, and a quote in
	 * quotes is written twice. Commas in braces do not end a template.
	 * @return the fields, at least one
	 * @throws TemplateException if the text is no such list, or has a field twice
	 */
	public static List<FieldTemplate> parse(String text) {
		List<FieldTemplate> fields = new ArrayList<>();
		Set<String> names = new HashSet<>();
		int[] at = { 0 };
		while (true) {
			FieldTemplate field = next(text, at);
			if (!field.template.isSpread() && !names.add(field.name)) {
				throw new TemplateException(
						"has the field '" + Excerpt.of(field.name) + "' twice, and one of two values would be lost");
			}
			fields.add(field);
			if (at[0] == text.length()) {
				break;
			}
			if (text.charAt(at[0]++) != ',') {
				throw TemplateException.noTemplate();
			}
		}
		if (fields.stream().anyMatch(FieldTemplate::omits) && !fields.stream().allMatch(FieldTemplate::omits)) {
			throw new TemplateException("has names with and without '-': -name means all fields but this one");
		}
		return List.copyOf(fields);
	}

	private static FieldTemplate next(String text, int[] at) {
		if (text.startsWith("{", at[0])) {
			Template template = Template.parse(unquoted(text, at, false));
			if (!template.isSpread()) {
				throw new TemplateException("has '" + Excerpt.of(template.toString()) + "' without a name: a field is"
						+ " name=template, in quotes if the template has a comma, as in place=\"{lon},{lat}\"");
			}
			return new FieldTemplate("", template, false);
		}
		boolean omits = text.startsWith("-", at[0]);
		at[0] += (omits) ? 1 : 0;
		String name = word(text, at, true);
		if (name == null || name.isEmpty() || name.equals(Template.WHOLE)) {
			throw TemplateException.noTemplate();
		}
		if (omits || !text.startsWith("=", at[0])) {
			return new FieldTemplate(name, Template.ofName(name), omits);
		}
		at[0]++;
		String written = word(text, at, false);
		Template template = Template.parse((written != null) ? written : "{");
		if (template.isSpread()) {
			throw new TemplateException("has the spread '" + Excerpt.of(template.toString())
					+ "' as the value of one field: leave '" + Excerpt.of(name) + "=' out");
		}
		return new FieldTemplate(name, template, false);
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
		if (this.omits) {
			return "-" + name;
		}
		boolean plain = this.template.isPlain(this.name);
		return (plain) ? name : name + "=" + quoted(this.template.toString(), ",\"");
	}

	private static String quoted(String text, String special) {
		boolean plain = text.chars().noneMatch((c) -> special.indexOf(c) >= 0) && !text.startsWith("-");
		return (plain) ? text : '"' + text.replace("\"", "\"\"") + '"';
	}

}
