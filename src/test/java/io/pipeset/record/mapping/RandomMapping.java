package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.pipeset.record.Operation;

/** Random templates, and the records that they make by the rules of the documentation. */
public final class RandomMapping {

	/** The names that rows may have. */
	public static final List<String> NAMES = List.of("sid", "price", "user", "user.id", "user.name.first", "Full Name",
			"größe", "a\"b", ".", "id");

	private static final String[] LITERALS = { "", "session:", "{{", "}}", "{{x}}", "é", "\"", "\\", "\n", "%" };

	private final Random random;

	private final Operation operation;

	private final Nulls nulls;

	private final Templates.Texts texts;

	/** The number of the row. */
	private int index;

	/**
	 * Chooses templates.
	 * @param seed chooses them
	 */
	public RandomMapping(long seed) {
		this.random = new Random(seed);
		this.operation = List.of(Operation.SET, Operation.HSET, Operation.SADD, Operation.HSET).get(below(4));
		this.nulls = List.of(Nulls.REFUSE, Nulls.SKIP, Nulls.EMPTY).get(below(3));
		boolean hash = this.operation == Operation.HSET;
		List<Word> args = new ArrayList<>();
		for (int i = (this.operation == Operation.SADD) ? below(3) : -1; i >= 0; i--) {
			args.addAll(words());
		}
		List<FieldTemplate> fields = new ArrayList<>();
		for (int i = below(3); i >= 0; i--) {
			String name = name();
			fields.add(new FieldTemplate(name, (below(3) == 0) ? template(false) : Template.ofName(name)));
		}
		List<List<Word>> commands = new ArrayList<>();
		for (int i = (below(3) == 0) ? below(3) : -1; i >= 0; i--) {
			List<Word> command = new ArrayList<>(List.of(Word.parse("SADD"), new Word("", template(below(5) == 0))));
			command.addAll(words());
			commands.add(command);
		}
		this.texts = (!commands.isEmpty())
				? new Templates.Texts(null, null, null, List.of(), commands, null, null, null)
				: new Templates.Texts(template(below(5) == 0),
						(this.operation == Operation.SET) ? template(true) : null,
						(hash && below(2) == 0) ? fields : null, args, List.of(), null, null,
						(below(4) == 0) ? template(false) : null);
	}

	/** A template, or a group of one or two. */
	private List<Word> words() {
		if (below(3) > 0) {
			return List.of(new Word("", template(true)));
		}
		List<Word> group = new ArrayList<>(List.of(new Word("[", null)));
		for (int i = below(2); i >= 0; i--) {
			group.add(new Word("", template(true)));
		}
		group.add(new Word("]", null));
		return group;
	}

	/** The templates. */
	public Templates templates() {
		return (this.texts.commands().isEmpty()) ? new Templates(this.operation, this.texts)
				: new Templates(this.texts.commands().stream().map((command) -> Operation.SADD).toList(), this.texts);
	}

	/** The operation of all records. */
	public Operation operation() {
		return this.operation;
	}

	/** The meaning of a null. */
	public Nulls nulls() {
		return this.nulls;
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
			text.append('{')
				.append((whole && below(4) == 0) ? Template.WHOLE : (whole && below(5) == 0) ? Template.INDEX : name())
				.append('}');
			text.append((below(2) == 0) ? "" : LITERALS[below(LITERALS.length)]);
		}
		Template template = Template.parse(text.toString());
		return (template != null) ? template : template(whole);
	}

	/**
	 * The records of a row.
	 * @param row its values
	 * @param index its number, from 0
	 * @return the words of each command; if it is refused, one word, which the reason
	 * contains
	 */
	public List<List<String>> records(Values row, int index) {
		this.index = index;
		if (this.texts.commands().isEmpty()) {
			return List.of(words(row));
		}
		List<List<String>> records = new ArrayList<>();
		for (List<Word> command : this.texts.commands()) {
			try {
				List<String> words = new ArrayList<>(List.of("SADD"));
				addArguments(words, command.subList(1, command.size()), row);
				records.add((words.size() > 2) ? words : List.of("SADD takes"));
			}
			catch (RefusedException ex) {
				records.add(List.of(ex.getMessage()));
			}
		}
		List<String> refused = records.stream().filter((words) -> words.size() == 1).findFirst().orElse(null);
		return (refused != null) ? records.stream().map((words) -> refused).toList() : records;
	}

	private List<String> words(Values row) {
		List<String> words = new ArrayList<>(List.of(this.operation.name()));
		try {
			Template id = this.texts.id();
			if (id != null) {
				String named = value(id, row, (this.nulls == Nulls.EMPTY) ? Nulls.SKIP : this.nulls);
				if (named != null && named.getBytes(StandardCharsets.UTF_8).length > 256) {
					throw new RefusedException("'id' takes at most 256 bytes");
				}
			}
			words.add(value(this.texts.key(), row, Nulls.REFUSE));
			if (this.texts.value() != null) {
				words.add(value(this.texts.value(), row, (this.nulls == Nulls.SKIP) ? Nulls.REFUSE : this.nulls));
			}
			addArguments(words, this.texts.args(), row);
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

	private void addArguments(List<String> words, List<Word> arguments, Values row) {
		boolean left = false;
		for (int i = 0; i < arguments.size(); i++) {
			Word word = arguments.get(i);
			if (word.opens()) {
				List<Word> rest = arguments.subList(i, arguments.size());
				int end = rest.indexOf(new Word("]", null));
				left = rest.subList(0, end)
					.stream()
					.flatMap((inner) -> inner.names().stream())
					.anyMatch((name) -> !name.equals(Template.WHOLE) && !name.equals(Template.INDEX)
							&& (row.get(name) == null || row.get(name).text() == null));
			}
			else if (word.closes()) {
				left = false;
			}
			else if (!left) {
				words.add(value(word.template(), row, Nulls.REFUSE));
			}
		}
	}

	private void addFields(List<String> words, Values row) {
		if (this.texts.fields() == null) {
			for (Map.Entry<String, Value> field : row.fields()) {
				add(words, field.getKey(), text(field.getKey(), field.getValue(), this.nulls));
			}
			return;
		}
		for (FieldTemplate field : this.texts.fields()) {
			add(words, field.name(), value(field.template(), row, this.nulls));
		}
	}

	private static void add(List<String> words, String name, String value) {
		if (value != null) {
			words.add(name);
			words.add(value);
		}
	}

	/** The value of a template, or nothing if it is left out. */
	private String value(Template template, Values row, Nulls nulls) {
		StringBuilder value = new StringBuilder(text(template, 0));
		for (int i = 0; i < template.names().size(); i++) {
			String name = template.names().get(i);
			String text = (name.equals(Template.WHOLE)) ? row.whole()
					: (name.equals(Template.INDEX)) ? String.valueOf(this.index) : text(name, row.get(name), nulls);
			if (text == null) {
				// The first value that is not there decides.
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

		/** The value that a template means; {@code null} if the row does not have it. */
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
