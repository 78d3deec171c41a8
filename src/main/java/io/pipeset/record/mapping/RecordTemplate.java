package io.pipeset.record.mapping;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

import io.pipeset.record.Operation;
import io.pipeset.record.StreamOptions;
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

	/** The template of a record that {@code key}, {@code value}, {@code fields} make. */
	static RecordTemplate of(Operation operation, Texts texts, Numbers numbers) {
		Part id = part("id", Place.OPTION, texts.id(), numbers);
		Part key = part("key", Place.KEY, texts.key(), numbers);
		Part ttl = part("ttl", Place.OPTION, texts.ttl(), numbers);
		Part expireAt = part("expireAt", Place.OPTION, texts.expireAt(), numbers);
		List<Element> elements = new ArrayList<>();
		Part value = part("value", Place.VALUE, texts.value(), numbers);
		if (value != null) {
			elements.add(value);
		}
		List<FieldTemplate> named = texts.fields();
		Fields fields = Fields.of((named != null) ? named : List.of(), numbers);
		if (operation == Operation.HSET && (named != null || texts.args().isEmpty())) {
			elements.add(fields);
		}
		elements.addAll(elements(operation, "args", texts.args(), numbers));
		if (operation == Operation.XADD) {
			List<String> words = texts.args()
				.stream()
				.map((word) -> (word.literal() != null) ? word.text() : "{}")
				.toList();
			int entryId = StreamOptions.idPosition(words);
			if (entryId == words.size()) {
				elements.add(new Part("args", Place.ARGUMENT, Template.parse("*"), numbers));
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
			key = part.at(Place.KEY);
			elements.remove(0);
		}
		return new RecordTemplate(operation, part("id", Place.OPTION, id, numbers), key, null, null,
				List.copyOf(elements), group);
	}

	private static List<Element> elements(Operation operation, String setting, List<Word> words, Numbers numbers) {
		return elements(operation, setting, words.iterator(), numbers);
	}

	/** The elements up to the end of the words, or of the group that they are in. */
	private static List<Element> elements(Operation operation, String setting, Iterator<Word> words, Numbers numbers) {
		List<Element> elements = new ArrayList<>();
		while (words.hasNext()) {
			Word word = words.next();
			Template template = word.template();
			if (word.closes()) {
				break;
			}
			if (template == null) {
				elements.add(new Group(List.copyOf(elements(operation, setting, words, numbers))));
			}
			else if (template.isSpread()) {
				elements.add(new Spread(Place.SPREAD, numbers.slot(template.values().get(0), setting),
						takesPairs(operation), Set.of()));
			}
			else {
				elements.add(new Part(setting, Place.ofArgument(operation), template, numbers));
			}
		}
		return elements;
	}

	/** Whether names and values in turn are arguments of an operation. */
	private static boolean takesPairs(Operation operation) {
		return operation == Operation.HSET || operation == Operation.MSET || operation == Operation.MSETNX
				|| operation == Operation.XADD;
	}

	private static @Nullable Part part(String setting, Place place, @Nullable Template template, Numbers numbers) {
		return (template != null) ? new Part(setting, place, template, numbers) : null;
	}

	/** All values of a row as fields, if that is what the record has. */
	@Nullable Fields allFields() {
		for (Element element : this.elements) {
			if (element instanceof Fields fields && fields.areAll()) {
				return fields;
			}
		}
		return null;
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

	/** Numbers the names of templates. */
	interface Numbers {

		/** Makes a value's names numbers. */
		Slot slot(Value value, String setting);

		/** The number of a template that is an argument. */
		int nextPart();

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
	 * @param pairs whether the members of an object are names and values in turn
	 * @param written the names of fields that win over those of the row
	 */
	record Spread(Place place, Slot slot, boolean pairs, Set<ByteBuffer> written) implements Element {

		@Override
		public int arguments() {
			return 1;
		}

		@Override
		public long bytes() {
			return Part.TEMPLATE_BYTES;
		}

		/** Whether all values of the row are spread. */
		boolean isOfRow() {
			return this.slot.nameText(0).equals(Template.WHOLE);
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
	 * @param fields each of them; none for all values of the row
	 * @param omitted the names of values that are no fields
	 */
	record Fields(List<Field> fields, Set<ByteBuffer> omitted) implements Element {

		static Fields of(List<FieldTemplate> fields, Numbers numbers) {
			Set<ByteBuffer> names = new HashSet<>();
			fields.stream()
				.filter((field) -> !field.template().isSpread())
				.forEach((field) -> names.add(ByteBuffer.wrap(field.name().getBytes(StandardCharsets.UTF_8))));
			boolean omits = fields.stream().anyMatch(FieldTemplate::omits);
			return (omits) ? new Fields(List.of(), names)
					: new Fields(fields.stream().map((field) -> Field.of(field, names, numbers)).toList(), Set.of());
		}

		/** Whether each value of a row is a field, but perhaps for some. */
		boolean areAll() {
			return this.fields.isEmpty();
		}

		@Override
		public int arguments() {
			return 2 * this.fields.size();
		}

		@Override
		public long bytes() {
			return this.fields.stream().mapToLong(Field::bytes).sum();
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

		static Field of(FieldTemplate field, Set<ByteBuffer> written, Numbers numbers) {
			Template template = field.template();
			return (template.isSpread())
					? new Field("", null,
							new Spread(Place.SPREAD_FIELDS, numbers.slot(template.values().get(0), "fields"), true,
									written))
					: new Field(field.name(), new Part("fields", Place.FIELD, template, numbers), null);
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

		/** A template, with its text in the query and in the report. */
		private static final int TEMPLATE_BYTES = 400;

		/** One of its values, with the text after it. */
		private static final int SLOT_BYTES = 100;

		/** The size up to which an argument is prepared. */
		static final int PREPARED_BYTES = 512;

		private final int number;

		private final String setting;

		private final Place place;

		private final byte[][] literals;

		private final Slot[] slots;

		/** The place of each value in a text of JSON; {@code null} for other texts. */
		private final Place @Nullable [] json;

		private final int onlyName;

		Part(String setting, Place place, Template template, Numbers numbers) {
			this.number = numbers.nextPart();
			this.setting = setting;
			this.literals = template.literals();
			this.slots = template.values().stream().map((value) -> numbers.slot(value, setting)).toArray(Slot[]::new);
			boolean[] quoted = (place == Place.KEY || place == Place.OPTION) ? null : template.quotedValues();
			this.json = (quoted != null) ? places(quoted) : null;
			boolean single = this.slots.length == 1 && this.literals[1].length == 0;
			boolean whole = single && this.literals[0].length == 0;
			this.place = (place == Place.MEMBER && !whole) ? Place.ARGUMENT : place;
			boolean beginning = single && this.slots[0].isName() && this.json == null
					&& this.literals[0].length < PREPARED_BYTES;
			this.onlyName = (beginning) ? this.slots[0].name(0) : -1;
		}

		private Part(Part other, Place place) {
			this.number = other.number;
			this.setting = other.setting;
			this.literals = other.literals;
			this.slots = other.slots;
			this.json = null;
			this.place = place;
			this.onlyName = (other.json == null) ? other.onlyName : -1;
		}

		private static Place[] places(boolean[] quoted) {
			Place[] places = new Place[quoted.length];
			for (int i = 0; i < quoted.length; i++) {
				places[i] = (quoted[i]) ? Place.JSON_STRING : Place.JSON;
			}
			return places;
		}

		/** The same argument at another place. */
		Part at(Place other) {
			return new Part(this, other);
		}

		/** Its number among all arguments of a job. */
		int number() {
			return this.number;
		}

		/** The setting that it is given in. */
		String setting() {
			return this.setting;
		}

		/** The place of the whole argument. */
		Place place() {
			return this.place;
		}

		/** The place of one of its values. */
		Place place(int slot) {
			return (this.json != null) ? this.json[slot] : this.place;
		}

		/** The bytes around the values, one more than there are values. */
		byte[][] literals() {
			return this.literals;
		}

		Slot[] slots() {
			return this.slots;
		}

		/** Whether it is one value and nothing else. */
		boolean isWhole() {
			return this.slots.length == 1 && this.literals[0].length == 0 && this.literals[1].length == 0;
		}

		/**
		 * The number of the name, if the template is a name with perhaps a text before
		 * it, which has no other reading; -1 for one of another kind.
		 */
		int onlyName() {
			return this.onlyName;
		}

		@Override
		public int arguments() {
			return 1;
		}

		@Override
		public long bytes() {
			return TEMPLATE_BYTES + (long) SLOT_BYTES * this.slots.length + PREPARED_BYTES
					+ 4 * Arrays.stream(this.literals).mapToLong((literal) -> literal.length).sum();
		}

	}

}
