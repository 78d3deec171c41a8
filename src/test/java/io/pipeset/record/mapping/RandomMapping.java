package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.pipeset.record.Operation;

/**
 * Random templates, and the records that they build by the rules of the documentation.
 */
public final class RandomMapping {

	/** The names that rows may have. */
	public static final List<String> NAMES = List.of("sid", "price", "user", "user.id", "user.name.first", "Full Name",
			"größe", "a\"b", ".", "id");

	private static final String[] LITERALS = { "", "session:", "{{", "}}", "{{x}}", "é", "\"", "\\", "\n", "%" };

	private final Random random;

	private final Operation operation;

	private final Nulls nulls;

	private final Templates.Texts texts;

	/**
	 * Chooses templates.
	 * @param seed chooses them
	 */
	public RandomMapping(long seed) {
		this.random = new Random(seed);
		this.operation = List.of(Operation.SET, Operation.HSET, Operation.SADD, Operation.HSET).get(below(4));
		this.nulls = List.of(Nulls.REFUSE, Nulls.SKIP, Nulls.EMPTY).get(below(3));
		boolean hash = this.operation == Operation.HSET;
		List<Template> args = new ArrayList<>();
		for (int i = (this.operation == Operation.SADD) ? below(3) : -1; i >= 0; i--) {
			args.add(template(true));
		}
		List<String> fields = new ArrayList<>();
		for (int i = below(3); i >= 0; i--) {
			fields.add(name());
		}
		this.texts = new Templates.Texts(template(below(5) == 0),
				(this.operation == Operation.SET) ? template(true) : null, (hash && below(2) == 0) ? fields : null,
				args, null, null, (below(4) == 0) ? template(false) : null);
	}

	/** The operation of all records. */
	public Operation operation() {
		return this.operation;
	}

	/** What to do with a null. */
	public Nulls nulls() {
		return this.nulls;
	}

	/** The templates. */
	public Templates.Texts texts() {
		return this.texts;
	}

	private int below(int bound) {
		return this.random.nextInt(bound);
	}

	private String name() {
		return NAMES.get(below(NAMES.size()));
	}

	private Template template(boolean whole) {
		StringBuilder text = new StringBuilder(LITERALS[below(LITERALS.length)]);
		if (below(3) == 0) {
			text.setLength(0);
		}
		for (int i = below(3); i > 0; i--) {
			text.append('{').append((whole && below(4) == 0) ? Template.WHOLE : name()).append('}');
			text.append((below(2) == 0) ? "" : LITERALS[below(LITERALS.length)]);
		}
		Template template = Template.parse(text.toString());
		return (template != null) ? template : template(whole);
	}

	/**
	 * The record of a row.
	 * @param row its values
	 * @return the words of its command; for a refused record, one word that the message
	 * contains
	 */
	public List<String> words(Values row) {
		List<String> words = new ArrayList<>(List.of(this.operation.name()));
		try {
			Template id = this.texts.id();
			if (id != null) {
				value(id, row, (this.nulls == Nulls.EMPTY) ? Nulls.SKIP : this.nulls);
			}
			words.add(value(this.texts.key(), row, Nulls.REFUSE));
			if (this.texts.value() != null) {
				words.add(value(this.texts.value(), row, (this.nulls == Nulls.SKIP) ? Nulls.REFUSE : this.nulls));
			}
			for (Template argument : this.texts.args()) {
				words.add(value(argument, row, Nulls.REFUSE));
			}
			if (this.operation == Operation.HSET) {
				addFields(words, row);
			}
		}
		catch (RefusedException ex) {
			return List.of(ex.getMessage());
		}
		boolean enough = words.size() > 2;
		return (enough) ? words : List.of((this.operation == Operation.HSET) ? "has no field" : "SADD takes");
	}

	private void addFields(List<String> words, Values row) {
		List<Map.Entry<String, Value>> fields = new ArrayList<>();
		if (this.texts.fields() != null) {
			this.texts.fields().forEach((name) -> fields.add(new SimpleEntry<>(name, row.get(name))));
		}
		else {
			fields.addAll(row.fields());
		}
		for (Map.Entry<String, Value> field : fields) {
			String text = text(field.getKey(), field.getValue(), this.nulls);
			if (text != null) {
				words.add(field.getKey());
				words.add(text);
			}
		}
	}

	/** The value of a template, or nothing if it is left out. */
	private static String value(Template template, Values row, Nulls nulls) {
		StringBuilder value = new StringBuilder(text(template, 0));
		for (int i = 0; i < template.names().size(); i++) {
			String name = template.names().get(i);
			String text = (name.equals(Template.WHOLE)) ? row.whole() : text(name, row.get(name), nulls);
			if (text == null) {
				// The first missing value decides.
				return null;
			}
			value.append(text).append(text(template, i + 1));
		}
		return value.toString();
	}

	private static String text(Template template, int literal) {
		return new String(template.literals()[literal], StandardCharsets.UTF_8);
	}

	private static String text(String name, Value value, Nulls nulls) {
		if (value == null) {
			throw new RefusedException("'" + name + "' is missing");
		}
		if (value.text() == null) {
			if (nulls == Nulls.REFUSE) {
				throw new RefusedException("'" + name + "' is ");
			}
			return (nulls == Nulls.SKIP) ? null : "";
		}
		return value.text();
	}

	/** The values of a row. */
	public interface Values {

		/** The value of a name; {@code null} if the row does not have it. */
		Value get(String name);

		/** The fields that the row has. */
		List<Map.Entry<String, Value>> fields();

		/** The whole row. */
		String whole();

	}

	/**
	 * A value.
	 *
	 * @param text the value, or {@code null} for a null
	 */
	public record Value(String text) {

	}

	/** A record is refused. */
	private static final class RefusedException extends RuntimeException {

		RefusedException(String message) {
			super(message);
		}

	}

}
