package io.pipeset.record.mapping;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * The templates of a job, which make one record or more of each row. The names in all of
 * them are numbered once, here, so that a row of any format only has to find the values
 * of these numbers.
 */
public final class Templates implements RecordTemplate.Numbers {

	/** The memory of a name, in tables, in the query and in the report. */
	private static final int NAME_BYTES = 200;

	private final RecordTemplate[] records;

	private final List<String> names = new ArrayList<>();

	private final Map<String, Integer> numbers = new HashMap<>();

	private final List<Slot> slots = new ArrayList<>();

	private final Texts texts;

	private int parts;

	/** The number of the first row, for {@code {@index}}. */
	private long firstRow;

	/**
	 * Templates of one record a row.
	 * @param operation the operation of all records
	 */
	public Templates(Operation operation, Texts texts) {
		this.texts = texts;
		this.records = new RecordTemplate[] { RecordTemplate.of(operation, texts, this) };
	}

	/**
	 * Templates of a record for each command.
	 * @param operations the operation of each command, in their order
	 * @param texts the commands, and perhaps an id
	 */
	public Templates(List<Operation> operations, Texts texts) {
		this.texts = texts;
		this.records = new RecordTemplate[operations.size()];
		for (int i = 0; i < this.records.length; i++) {
			this.records[i] = RecordTemplate.of(operations.get(i), texts.commands().get(i), texts.id(), this);
		}
	}

	/** Counts rows from another number than 0, because they are a part of a body. */
	public void setFirstRow(long firstRow) {
		this.firstRow = firstRow;
	}

	long firstRow() {
		return this.firstRow;
	}

	/** Whether a template has the number of its row. */
	public boolean hasIndex() {
		return this.names.contains(Template.INDEX);
	}

	@Override
	public Slot slot(Value value, String setting) {
		int[] numbers = value.readings().stream().mapToInt((reading) -> number(reading.name())).toArray();
		Slot slot = new Slot(this.slots.size(), value, setting, numbers);
		this.slots.add(slot);
		return slot;
	}

	private int number(String name) {
		Integer known = this.numbers.putIfAbsent(name, this.names.size());
		if (known == null) {
			this.names.add(name);
		}
		return (known != null) ? known : this.names.size() - 1;
	}

	@Override
	public int nextPart() {
		return this.parts++;
	}

	/** How many templates are arguments. */
	int parts() {
		return this.parts;
	}

	/** The values in all templates, by their number. */
	List<Slot> slots() {
		return this.slots;
	}

	/**
	 * The names that templates may mean, by their number: each beginning of what stands
	 * between braces.
	 * @return each name once
	 */
	public List<String> names() {
		return this.names;
	}

	/**
	 * Finds a value that no column can be, or a column to leave out that is not there.
	 * @param columns the names of columns
	 * @param count how many columns there are, with or without a name
	 * @return the problem, from {@code has no column} on; {@code null} if there is none
	 */
	public @Nullable String missingColumn(Collection<String> columns, int count) {
		for (Slot slot : this.slots) {
			boolean known = false;
			for (int i = 0; i < slot.readings() && !known; i++) {
				String name = slot.nameText(i);
				known = place(name, (columns.contains(name)) ? 0 : -1, count) >= 0 || name.equals(Template.WHOLE)
						|| name.equals(Template.INDEX);
			}
			if (!known) {
				return "has no column '" + slot.pathText(slot.readings() - 1) + "', which '" + slot.setting()
						+ "' names";
			}
		}
		return omitted().stream()
			.filter((name) -> !columns.contains(name))
			.findFirst()
			.map((name) -> "has no column '" + Excerpt.of(name) + "', which 'fields' leaves out")
			.orElse(null);
	}

	/**
	 * Finds a text that would be the same in all rows, though a column has the name in
	 * its braces.
	 * @return the problem, to follow the name of a setting; {@code null} if there is none
	 */
	public @Nullable String problemOfBraces(Predicate<String> isColumn) {
		return this.texts.all()
			.flatMap((template) -> template.doubleBraces(false).stream())
			.filter(isColumn)
			.findFirst()
			.map(Template::bracesMessage)
			.orElse(null);
	}

	/**
	 * The index of a column that is named, or meant by its number.
	 * @param named the index of the column that has the name, negative for none
	 * @param count how many columns there are
	 * @return its index, negative for none
	 */
	public static int place(String name, int named, int count) {
		int number = (named < 0) ? columnNumber(name) : 0;
		return (number > 0 && number <= count) ? number - 1 : named;
	}

	private static int columnNumber(String name) {
		return (name.matches("@[1-9][0-9]{0,4}")) ? Integer.parseInt(name.substring(1)) : 0;
	}

	/** Whether all columns that they name are named by their numbers. */
	public boolean nameOnlyNumbers() {
		return !mapsAllValues() && !nameColumns();
	}

	/** Whether a template has the name of a column. */
	public boolean nameColumns() {
		return this.slots.stream()
			.map((slot) -> slot.nameText(slot.readings() - 1))
			.anyMatch(
					(name) -> columnNumber(name) == 0 && !name.equals(Template.INDEX) && !name.equals(Template.WHOLE));
	}

	/** Whether each value of a row is a field of its record, or part of one. */
	public boolean mapsAllValues() {
		return settingOfAll() != null;
	}

	/** The setting that names all values of a row; {@code null} for none. */
	public @Nullable String settingOfAll() {
		for (RecordTemplate template : this.records) {
			if (template.allFields() != null) {
				return "fields";
			}
		}
		Integer whole = this.numbers.get(Template.WHOLE);
		return (whole != null) ? settingOf(Template.WHOLE) : null;
	}

	/** Whether templates need each value of a row with its name. */
	public boolean needMembers() {
		return Stream.of(this.records).anyMatch((template) -> template.allFields() != null) || this.slots.stream()
			.anyMatch((slot) -> slot.nameText(slot.readings() - 1).equals(Template.WHOLE) && slot.isSpread());
	}

	/** Whether templates need the whole row as one value. */
	public boolean needWhole() {
		return this.slots.stream()
			.anyMatch((slot) -> slot.nameText(slot.readings() - 1).equals(Template.WHOLE) && !slot.isSpread());
	}

	/** The names that fields leave out, if all others of a row are fields. */
	public List<String> omitted() {
		List<FieldTemplate> fields = this.texts.fields();
		return (fields != null) ? fields.stream().filter(FieldTemplate::omits).map(FieldTemplate::name).toList()
				: List.of();
	}

	/**
	 * The largest number of arguments that a record is known to have.
	 * @param columns how many values a row has, or 0 if that is not known
	 */
	public int maxArguments(int columns) {
		int most = 0;
		for (RecordTemplate template : this.records) {
			most = Math.max(most, template.arguments() + ((template.allFields() != null) ? 2 * columns : 0));
		}
		return most;
	}

	/** The operations of the records, in the order of a row. */
	public List<Operation> operations() {
		return Stream.of(this.records).map(RecordTemplate::operation).toList();
	}

	/** How many records each row makes: 1, unless there are several commands. */
	public int recordsPerRow() {
		return this.records.length;
	}

	/**
	 * The setting that names a value, for messages.
	 * @return the first such setting
	 */
	public String settingOf(String name) {
		return this.slots.stream().filter((slot) -> slot.hasName(name)).map(Slot::setting).findFirst().orElse("fields");
	}

	/** Whether a value is spread. */
	public boolean hasSpread() {
		return this.slots.stream().anyMatch(Slot::isSpread);
	}

	/**
	 * Whether a value is an array of rows, or has it: its rows alone would have another
	 * one.
	 */
	public boolean nameAround(Rows rows) {
		String path = rows.pathText() + ".";
		return rows.areItems() && this.slots.stream()
			.map((slot) -> slot.fullPath() + ".")
			.anyMatch((name) -> path.startsWith(name) || name.startsWith(path));
	}

	/** A value that is made of a text before it is decoded; {@code null} for none. */
	public @Nullable String undecoded() {
		return this.slots.stream()
			.filter((slot) -> !slot.separator().isEmpty() || slot.isShaped())
			.map(Slot::text)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Finds out whether all values can be read.
	 * @return the setting and what is wrong with a value, for the caller to read;
	 * {@code null} if nothing is
	 */
	public @Nullable Problem problem() {
		for (Slot slot : this.slots) {
			String problem = slot.problem();
			if (problem != null) {
				return new Problem(slot.setting(), problem);
			}
		}
		return null;
	}

	/** The templates as they were written. */
	public Texts texts() {
		return this.texts;
	}

	/** The memory that they take, in bytes. */
	long bytes() {
		long bytes = bytes(this.names) + 2L * maxArguments(0);
		for (RecordTemplate template : this.records) {
			bytes += template.bytes();
		}
		return bytes;
	}

	/** The memory that a list of names takes for a job, in bytes. */
	static long bytes(List<String> names) {
		return names.stream().mapToLong((name) -> NAME_BYTES + 2L * name.length()).sum();
	}

	RecordTemplate[] records() {
		return this.records;
	}

	/**
	 * What is wrong with a value of a setting.
	 *
	 * @param text the problem, to follow the name of the setting
	 */
	public record Problem(String setting, String text) {

	}

	/**
	 * Templates by the settings that they are given in.
	 *
	 * @param key the record's key; {@code null} for an operation whose keys stand among
	 * its arguments, and for commands
	 * @param value the value of SET, and of no other operation
	 * @param fields the fields of HSET and XADD; {@code null} for all that a row has
	 * @param args the arguments, in their order
	 * @param commands the words of each command; none if the other settings make the
	 * record
	 * @param ttl the time to live, or {@code null}
	 * @param expireAt when the key expires, or {@code null}
	 * @param id the name in the report, or {@code null}
	 */
	public record Texts(@Nullable Template key, @Nullable Template value, @Nullable List<FieldTemplate> fields,
			List<Word> args, List<List<Word>> commands, @Nullable Template ttl, @Nullable Template expireAt,
			@Nullable Template id) {

		/** The arguments as they were written. */
		public List<String> argTexts() {
			return this.args.stream().map(Word::text).toList();
		}

		/** The commands as they were written, with one blank between words. */
		public List<String> commandTexts() {
			return this.commands.stream()
				.map((words) -> words.stream().map(Word::text).collect(Collectors.joining(" ")))
				.toList();
		}

		/** All templates. */
		Stream<Template> all() {
			Stream<@Nullable Template> single = Stream.of(this.key, this.value, this.ttl, this.expireAt, this.id);
			Stream<Template> fields = (this.fields != null) ? this.fields.stream().map(FieldTemplate::template)
					: Stream.of();
			Stream<@Nullable Template> words = Stream
				.concat(this.args.stream(), this.commands.stream().flatMap(List::stream))
				.map(Word::template);
			return Stream.concat(Stream.concat(single, words).filter(Objects::nonNull).map(Objects::requireNonNull),
					fields);
		}

	}

}
