package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.pipeset.record.Operation;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Random templates, and the records that they make by the rules of the documentation. */
public final class RandomMapping {

	/** The names that rows may have. */
	public static final List<String> NAMES = List.of("sid", "price", "user", "user.id", "user.name.first", "Full Name",
			"größe", "a\"b", ".", "id");

	private static final JsonMapper MAPPER = JsonMapper.shared();

	private static final String DEFAULT = "|none";

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
			fields.add(new FieldTemplate(name, (below(3) == 0) ? template(false) : Template.ofName(name), false));
		}
		List<List<Word>> commands = new ArrayList<>();
		for (int i = (below(3) == 0) ? below(3) : -1; i >= 0; i--) {
			List<Word> command = new ArrayList<>(List.of(Word.parse("SADD"), word(below(5) == 0)));
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

	@Override
	public String toString() {
		return this.operation + " " + this.texts + " nulls=" + this.nulls;
	}

	private Word word(boolean whole) {
		Template template = template(whole);
		return new Word(template.toString(), template);
	}

	/** A template, or a group of one or two, perhaps with a group in it. */
	private List<Word> words() {
		if (below(3) > 0) {
			return List.of(word(true));
		}
		List<Word> group = new ArrayList<>(List.of(new Word("[", null)));
		for (int i = below(2); i >= 0; i--) {
			group.addAll((below(4) == 0) ? words() : List.of(word(true)));
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
				.append((below(6) == 0) ? DEFAULT : "")
				.append('}');
			text.append((below(2) == 0) ? "" : LITERALS[below(LITERALS.length)]);
		}
		try {
			Template template = Template.parse(text.toString());
			// Texts of JSON have a test of their own.
			return (template.quotedValues() == null) ? template : template(whole);
		}
		catch (TemplateException ex) {
			return template(whole);
		}
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
		try {
			for (Template template : this.texts.all().toList()) {
				for (Value value : template.values()) {
					value.readings().forEach((reading) -> refuseTwice(row, reading.name()));
				}
			}
		}
		catch (RefusedException ex) {
			int records = Math.max(1, this.texts.commands().size());
			return Collections.nCopies(records, List.of(ex.getMessage()));
		}
		if (this.texts.commands().isEmpty()) {
			return List.of(words(row));
		}
		List<List<String>> records = new ArrayList<>();
		for (List<Word> command : this.texts.commands()) {
			try {
				List<String> words = new ArrayList<>(
						List.of("SADD", value(command.get(1).template(), row, Place.KEY, "")));
				addArguments(words, command.subList(2, command.size()), row);
				records.add((words.size() > 2) ? words : List.of("SADD takes"));
			}
			catch (RefusedException ex) {
				records.add(List.of(ex.getMessage()));
			}
		}
		List<String> refused = records.stream().filter((words) -> words.size() == 1).findFirst().orElse(null);
		return (refused != null) ? records.stream().map((words) -> refused).toList() : records;
	}

	private static void refuseTwice(Values row, String name) {
		if (row.isTwice(name)) {
			throw new RefusedException("'" + name + "' is there twice");
		}
	}

	private List<String> words(Values row) {
		List<String> words = new ArrayList<>(List.of(this.operation.name()));
		try {
			Template id = this.texts.id();
			if (id != null) {
				String named = value(id, row, Place.OPTION, "");
				if (named != null && named.getBytes(StandardCharsets.UTF_8).length > 256) {
					throw new RefusedException("'id' takes at most 256 bytes");
				}
			}
			words.add(value(this.texts.key(), row, Place.KEY, ""));
			if (this.texts.value() != null) {
				words.add(value(this.texts.value(), row, Place.VALUE, ""));
			}
			if (this.operation == Operation.HSET && this.texts.fields() != null) {
				addFields(words, row);
			}
			addArguments(words, this.texts.args(), row);
			if (this.operation == Operation.HSET && this.texts.fields() == null && this.texts.args().isEmpty()) {
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
		int at = 0;
		while (at < arguments.size()) {
			Word word = arguments.get(at);
			if (!word.opens()) {
				words.add(value(word.template(), row, Place.ofArgument(this.operationOf()), null));
				at++;
				continue;
			}
			int end = closing(arguments, at);
			List<Word> inner = arguments.subList(at + 1, end);
			if (!lacks(inner, row)) {
				addArguments(words, inner, row);
			}
			at = end + 1;
		}
	}

	private Operation operationOf() {
		return (this.texts.commands().isEmpty()) ? this.operation : Operation.SADD;
	}

	private static int closing(List<Word> words, int open) {
		int depth = 0;
		for (int i = open; i < words.size(); i++) {
			depth += (words.get(i).opens()) ? 1 : (words.get(i).closes()) ? -1 : 0;
			if (depth == 0) {
				return i;
			}
		}
		throw new IllegalStateException();
	}

	/** Whether a value outside of inner groups is missing. */
	private boolean lacks(List<Word> words, Values row) {
		int at = 0;
		boolean lacks = false;
		while (at < words.size() && !lacks) {
			Word word = words.get(at);
			if (word.opens()) {
				at = closing(words, at);
			}
			else {
				for (Value value : word.template().values()) {
					String name = value.text().replace(DEFAULT, "");
					RowValue found = find(row, name);
					lacks |= value.text().equals(name) && (found == null || found.text() == null);
					if (lacks) {
						break;
					}
				}
			}
			at++;
		}
		return lacks;
	}

	private void addFields(List<String> words, Values row) {
		if (this.texts.fields() == null) {
			for (Map.Entry<String, RowValue> field : row.fields()) {
				add(words, field.getKey(), place(field.getKey(), field.getValue(), Place.PAIR, row));
			}
			return;
		}
		for (FieldTemplate field : this.texts.fields()) {
			add(words, field.name(), value(field.template(), row, Place.FIELD, ""));
		}
	}

	private static void add(List<String> words, String name, String value) {
		if (value != null) {
			words.add(name);
			words.add(value);
		}
	}

	/**
	 * The value of a template, or nothing if it is left out.
	 * @param member {@code null} if a whole value may not be an array
	 */
	private String value(Template template, Values row, Place place, String member) {
		StringBuilder value = new StringBuilder(text(template, 0));
		boolean whole = template.values().size() == 1 && text(template, 0).isEmpty() && text(template, 1).isEmpty();
		boolean empty = !template.values().isEmpty();
		for (int i = 0; i < template.values().size(); i++) {
			String written = template.values().get(i).text();
			String name = written.replace(DEFAULT, "");
			RowValue found = find(row, name);
			String text;
			if ((found == null || found.text() == null) && !written.equals(name)) {
				text = DEFAULT.substring(1);
			}
			else {
				if (place == Place.KEY && found != null && found.text() != null && isJson(found.text())
						&& found.state() != State.SCALAR) {
					throw new RefusedException("'" + name + "' is an ");
				}
				if (place == Place.MEMBER && member == null && whole && found != null && found.text() != null
						&& found.text().strip().startsWith("[") && isJson(found.text())) {
					throw new RefusedException("'" + name + "' is an array");
				}
				text = place(name, found, place, row);
			}
			if (text == null) {
				// The first value that is not there decides.
				return null;
			}
			empty &= text.isEmpty();
			value.append(text).append(text(template, i + 1));
		}
		if (place == Place.KEY && empty) {
			throw new RefusedException("is an empty text, and the key has no other value");
		}
		return value.toString();
	}

	private static boolean isJson(String text) {
		return json(text) != null;
	}

	/** An array or object; {@code null} for any other text. */
	private static JsonNode json(String text) {
		try {
			JsonNode node = (text.matches("(?s)[ \\t\\n\\r]*[{\\[].*")) ? MAPPER.readTree(text) : null;
			return (node != null && node.isContainer()) ? node : null;
		}
		catch (JacksonException ex) {
			return null;
		}
	}

	private RowValue find(Values row, String name) {
		if (name.equals(Template.WHOLE)) {
			return new RowValue(row.whole(), State.COMPOSITE);
		}
		if (name.equals(Template.INDEX)) {
			return new RowValue(String.valueOf(this.index), State.SCALAR);
		}
		for (int end = name.length(); end > 0; end = name.lastIndexOf('.', end - 1)) {
			RowValue found = row.get(name.substring(0, end));
			if (found != null) {
				return (end == name.length()) ? found : walk(found, name, end);
			}
		}
		return null;
	}

	private static RowValue walk(RowValue from, String name, int end) {
		if (from.text() == null) {
			return from;
		}
		JsonNode node = (from.state() != State.SCALAR) ? json(from.text()) : null;
		if (node == null) {
			throw new RefusedException("no object or array of JSON");
		}
		boolean entered = from.state() == State.TEXT;
		for (String step : name.substring(end + 1).split("\\.", -1)) {
			if (node.isNull()) {
				return new RowValue(null, State.NULL);
			}
			if (node.isArray() && !step.matches("[0-9]+")) {
				throw new RefusedException("is an array, of which");
			}
			if (node.isString() && json(node.asString()) != null && !entered) {
				entered = true;
				node = json(node.asString());
			}
			if (!node.isContainer()) {
				throw new RefusedException("no object or array of JSON");
			}
			node = (node.isArray()) ? node.get(Integer.parseInt(step)) : node.get(step);
			if (node == null) {
				return null;
			}
		}
		return (node.isNull()) ? new RowValue(null, State.NULL)
				: (node.isString()) ? new RowValue(node.asString(), State.TEXT)
						: new RowValue(node.toString(), (node.isContainer()) ? State.COMPOSITE : State.SCALAR);
	}

	private static String text(Template template, int literal) {
		return new String(template.literals()[literal], StandardCharsets.UTF_8);
	}

	/** What the table of the documentation says of a value at a place. */
	private String place(String name, RowValue value, Place place, Values row) {
		boolean absent = value == null;
		boolean none = absent || value.text() == null;
		boolean option = place == Place.OPTION;
		if (option && !none && value.state() == State.COMPOSITE) {
			throw new RefusedException("'" + name + "' is an ");
		}
		if (!none && !(option && value.text().isEmpty())) {
			return value.text();
		}
		boolean skips = place == Place.FIELD || place == Place.PAIR || option;
		if (this.nulls == Nulls.SKIP && skips) {
			return null;
		}
		if (this.nulls == Nulls.EMPTY && (skips || (place == Place.VALUE && !absent))) {
			return (option) ? null : "";
		}
		if (place == Place.PAIR && row.isTable()) {
			return null;
		}
		throw new RefusedException("'" + name + "' is ");
	}

	/** The values of a row. */
	public interface Values {

		/** The value of a name of the row's own; {@code null} if it does not have it. */
		RowValue get(String name);

		/** Whether the row has a name twice. */
		boolean isTwice(String name);

		/** Whether it is a row of cells. */
		boolean isTable();

		/** All values of the row. */
		List<Map.Entry<String, RowValue>> fields();

		/** The whole row. */
		String whole();

	}

	/**
	 * A value.
	 *
	 * @param text the value, or {@code null} for a null
	 */
	public record RowValue(String text, State state) {

	}

	/** A record is refused. */
	private static final class RefusedException extends RuntimeException {

		RefusedException(String message) {
			super(message);
		}

	}

}
