package io.pipeset.record.mapping;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import io.pipeset.record.Operation;
import io.pipeset.record.StreamOptions;
import io.pipeset.record.mapping.Templates.Numbers;
import io.pipeset.record.mapping.Templates.Texts;
import org.jspecify.annotations.Nullable;

/**
 * The template of one record: its operation, its key, and the elements that make its
 * arguments.
 *
 * @param key the first argument; {@code null} if it is an element, or no key
 * @param group all of a command that is a group, and left out where a value is missing;
 * {@code null} for others
 */
record RecordTemplate(Operation operation, @Nullable Part id, @Nullable Part key, @Nullable Part ttl,
		@Nullable Part expireAt, List<Element> elements, @Nullable Group group) {

	/** The fields of a record for which no setting names them: all values of the row. */
	private static final Fields ALL_FIELDS = new Fields(null);

	/** The template of a record that {@code key}, {@code value}, {@code fields} make. */
	static RecordTemplate of(Operation operation, Texts texts, Numbers numbers) {
		Part id = part("id", texts.id(), numbers);
		Part key = part("key", texts.key(), numbers);
		Part ttl = part("ttl", texts.ttl(), numbers);
		Part expireAt = part("expireAt", texts.expireAt(), numbers);
		List<Element> elements = new ArrayList<>();
		Part value = part("value", texts.value(), numbers);
		if (value != null) {
			elements.add(value);
		}
		List<FieldTemplate> named = texts.fields();
		Fields fields = (named != null) ? Fields.of(named, numbers) : ALL_FIELDS;
		if (operation == Operation.HSET && (named != null || texts.args().isEmpty())) {
			elements.add(fields);
		}
		elements.addAll(elements(operation, "args", texts.args(), numbers));
		if (operation == Operation.XADD) {
			List<String> words = texts.args().stream().map((word) -> (word.isLiteral()) ? word.text() : "{}").toList();
			int entryId = StreamOptions.idPosition(words);
			if (entryId == words.size()) {
				elements.add(Part.literal("*"));
			}
			if (named != null || entryId >= words.size() - 1) {
				elements.add(fields);
			}
		}
		return new RecordTemplate(operation, id, key, ttl, expireAt, List.copyOf(elements), null);
	}

	/** The template of a record that a command makes. */
	static RecordTemplate of(Operation operation, List<Word> words, @Nullable Template id, Numbers numbers) {
		boolean grouped = words.get(0).opens();
		List<Word> arguments = (grouped) ? words.subList(2, words.size() - 1) : words.subList(1, words.size());
		List<Element> elements = elements(operation, "command", arguments, numbers);
		Group group = (grouped) ? new Group(List.copyOf(elements)) : null;
		Part key = null;
		if (operation.firstKey() == 0 && !elements.isEmpty() && elements.get(0) instanceof Part part) {
			key = part;
			elements.remove(0);
		}
		return new RecordTemplate(operation, part("id", id, numbers), key, null, null, List.copyOf(elements), group);
	}

	private static List<Element> elements(Operation operation, String setting, List<Word> words, Numbers numbers) {
		List<Element> elements = new ArrayList<>();
		List<Element> group = new ArrayList<>();
		List<Element> current = elements;
		for (Word word : words) {
			Template template = word.template();
			if (word.opens()) {
				current = group;
			}
			else if (word.closes()) {
				elements.add(new Group(List.copyOf(group)));
				group = new ArrayList<>();
				current = elements;
			}
			else if (template != null && template.isSpread()) {
				current.add(new Spread(setting, numbers.of(template.names().get(0), setting), takesPairs(operation)));
			}
			else if (template != null) {
				current.add(new Part(setting, template, numbers));
			}
		}
		return elements;
	}

	/** Whether names and values in turn are arguments of an operation. */
	private static boolean takesPairs(Operation operation) {
		return operation == Operation.HSET || operation == Operation.MSET || operation == Operation.XADD;
	}

	private static @Nullable Part part(String setting, @Nullable Template template, Numbers numbers) {
		return (template != null) ? new Part(setting, template, numbers) : null;
	}

	/** Whether each value of a row is a field. */
	boolean mapsAllValues() {
		return this.elements.contains(ALL_FIELDS);
	}

	/** The arguments that a row without nulls makes, with one for each spread. */
	int arguments() {
		return ((this.key != null) ? 1 : 0) + this.elements.stream().mapToInt(Element::arguments).sum();
	}

	/** The memory that it takes for a job, in bytes. */
	long bytes() {
		long bytes = this.elements.stream().mapToLong(Element::bytes).sum();
		for (@Nullable
		Part part : new @Nullable Part[] { this.id, this.key, this.ttl, this.expireAt }) {
			bytes += (part != null) ? part.bytes() : 0;
		}
		return bytes;
	}

	/** What makes an argument, or some arguments, of a record. */
	sealed interface Element permits Part, Spread, Group, Fields {

		/** The arguments that it makes, with one for each spread. */
		int arguments();

		/** The memory that it takes for a job, in bytes. */
		long bytes();

	}

	/**
	 * Arguments of the elements of one value.
	 *
	 * @param slot the number of the value's name
	 * @param pairs whether the members of an object are names and values in turn
	 */
	record Spread(String setting, int slot, boolean pairs) implements Element {

		@Override
		public int arguments() {
			return 1;
		}

		@Override
		public long bytes() {
			return Part.TEMPLATE_BYTES;
		}

	}

	/** Elements that are left out if a name in them is null or absent. */
	record Group(List<Element> elements) implements Element {

		@Override
		public int arguments() {
			return this.elements.stream().mapToInt(Element::arguments).sum();
		}

		@Override
		public long bytes() {
			return this.elements.stream().mapToLong(Element::bytes).sum();
		}

	}

	/**
	 * Pairs of a name and a value.
	 *
	 * @param fields each of them; {@code null} for all values of the row
	 */
	record Fields(@Nullable List<Field> fields) implements Element {

		static Fields of(List<FieldTemplate> fields, Numbers numbers) {
			return new Fields(fields.stream().map((field) -> Field.of(field, numbers)).toList());
		}

		@Override
		public int arguments() {
			return (this.fields != null) ? 2 * this.fields.size() : 0;
		}

		@Override
		public long bytes() {
			return (this.fields != null) ? this.fields.stream().mapToLong(Field::bytes).sum() : 0;
		}

	}

	/** A field: its name and its value, or a spread of names and values. */
	static final class Field {

		private final byte[] name;

		private final @Nullable Part part;

		private final @Nullable Spread spread;

		private Field(String name, @Nullable Part part, @Nullable Spread spread) {
			this.name = name.getBytes(StandardCharsets.UTF_8);
			this.part = part;
			this.spread = spread;
		}

		static Field of(FieldTemplate field, Numbers numbers) {
			Template template = field.template();
			return (template.isSpread())
					? new Field("", null, new Spread("fields", numbers.of(template.names().get(0), "fields"), true))
					: new Field(field.name(), new Part("fields", template, numbers), null);
		}

		/** The bytes of the name; empty for a spread. */
		byte[] name() {
			return this.name;
		}

		/** The value; {@code null} for a spread. */
		@Nullable Part part() {
			return this.part;
		}

		/** The names and values; {@code null} for a single field. */
		@Nullable Spread spread() {
			return this.spread;
		}

		private long bytes() {
			return this.name.length + ((this.part != null) ? this.part.bytes() : Part.TEMPLATE_BYTES);
		}

	}

	/** An argument: a template whose names are numbers. */
	static final class Part implements Element {

		/** The size up to which an argument is prepared. */
		private static final int PREPARED_BYTES = 512;

		/** A template, with its text in the query and in the report. */
		private static final int TEMPLATE_BYTES = 400;

		/** One of its names, with the text after it. */
		private static final int SLOT_BYTES = 100;

		private final String setting;

		private final byte[][] literals;

		private final int[] slots;

		/** The form of each name, if one of them has any. */
		private final @Nullable Form @Nullable [] forms;

		/** The number of each whole name with its form, which wins where a row has it. */
		private final int[] wholes;

		private final int onlyName;

		private final byte[] prepared;

		Part(String setting, Template template, Numbers numbers) {
			this.setting = setting;
			this.literals = template.literals();
			int count = template.names().size();
			this.slots = new int[count];
			this.wholes = new int[count];
			@Nullable Form[] forms = new Form[count];
			boolean formed = false;
			for (int i = 0; i < count; i++) {
				String name = template.names().get(i);
				int colon = name.lastIndexOf(':');
				forms[i] = (colon > 0) ? Form.find(name.substring(colon + 1)) : null;
				this.wholes[i] = numbers.of(name, setting);
				this.slots[i] = (forms[i] != null) ? numbers.of(name.substring(0, colon), setting) : this.wholes[i];
				formed |= forms[i] != null;
			}
			this.forms = (formed) ? forms : null;
			boolean beginning = count == 1 && !formed && this.literals[1].length == 0
					&& this.literals[0].length < PREPARED_BYTES;
			// A value that stands alone is not copied.
			this.prepared = (beginning && this.literals[0].length > 0) ? Arrays.copyOf(this.literals[0], PREPARED_BYTES)
					: new byte[0];
			this.onlyName = (beginning) ? this.slots[0] : -1;
		}

		/** An argument that is the same for all rows. */
		static Part literal(String text) {
			return new Part("args", Objects.requireNonNull(Template.parse(text)), (name, setting) -> 0);
		}

		/** The setting that it is given in. */
		String setting() {
			return this.setting;
		}

		/** The bytes around the names, one more than there are names. */
		byte[][] literals() {
			return this.literals;
		}

		/** The numbers of the names. */
		int[] slots() {
			return this.slots;
		}

		/** The form of a name, or {@code null} if its text is the value. */
		@Nullable Form form(int name) {
			return (this.forms != null) ? this.forms[name] : null;
		}

		/** The number of a whole name with its form. */
		int whole(int name) {
			return this.wholes[name];
		}

		/**
		 * The number of the name, if the template is a name with perhaps a text before
		 * it; -1 for one of another form.
		 */
		int onlyName() {
			return this.onlyName;
		}

		/**
		 * An array that begins with the text before the only name, and has space for a
		 * short value after it: most keys are made of these two.
		 */
		byte[] prepared() {
			return this.prepared;
		}

		@Override
		public int arguments() {
			return 1;
		}

		@Override
		public long bytes() {
			return TEMPLATE_BYTES + (long) SLOT_BYTES * this.slots.length + this.prepared.length
					+ 4 * Arrays.stream(this.literals).mapToLong((literal) -> literal.length).sum();
		}

	}

}
