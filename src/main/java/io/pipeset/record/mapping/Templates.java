package io.pipeset.record.mapping;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.record.Operation;
import org.jspecify.annotations.Nullable;

/**
 * The templates of a job, which make one record or more of each row. The names in all of
 * them are numbered once, here, so that a row of any format only has to find the values
 * of these numbers.
 */
public final class Templates {

	/** The memory of a name, in tables, in the query and in the report. */
	private static final int NAME_BYTES = 200;

	private final RecordTemplate[] records;

	private final List<String> names = new ArrayList<>();

	private final Map<String, Integer> slots = new HashMap<>();

	/** The setting that has each name first, by the name's number. */
	private final List<String> settings = new ArrayList<>();

	private final Texts texts;

	/** The number of the first row, for {@code {@index}}. */
	private long firstRow;

	/**
	 * Templates of one record a row.
	 * @param operation the operation of all records
	 */
	public Templates(Operation operation, Texts texts) {
		this.texts = texts;
		this.records = new RecordTemplate[] { RecordTemplate.of(operation, texts, this::slot) };
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
			this.records[i] = RecordTemplate.of(operations.get(i), texts.commands().get(i), texts.id(), this::slot);
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

	/** The number of a name, which a setting has. */
	private int slot(String name, String setting) {
		Integer known = this.slots.putIfAbsent(name, this.names.size());
		if (known == null) {
			this.names.add(name);
			this.settings.add(setting);
		}
		return (known != null) ? known : this.names.size() - 1;
	}

	/**
	 * The names in all templates, by their number. A name with a form is two names: the
	 * whole, which wins where a row has it, and the name before the colon.
	 * @return each name once
	 */
	public List<String> names() {
		return this.names;
	}

	/**
	 * The names one of which each row needs to have.
	 * @param name a name of {@link #names()}
	 * @return the name that takes its place; {@code null} if there is none
	 */
	public @Nullable String alternative(String name) {
		int colon = name.lastIndexOf(':');
		boolean form = colon > 0 && Form.find(name.substring(colon + 1)) != null;
		if (form) {
			return name.substring(0, colon);
		}
		for (String other : this.names) {
			int end = other.lastIndexOf(':');
			if (end == name.length() && other.startsWith(name) && Form.find(other.substring(end + 1)) != null) {
				return other;
			}
		}
		return null;
	}

	/** Whether each value of a row is a field of its record. */
	public boolean mapsAllValues() {
		for (RecordTemplate template : this.records) {
			if (template.mapsAllValues()) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether a template has the value of a column, a member or element of it, or the
	 * whole row.
	 */
	public boolean needs(String column) {
		return mapsAllValues() || this.names.contains(Template.WHOLE)
				|| this.names.stream().anyMatch((name) -> isPartOf(name, column));
	}

	/** Whether a name stands for a column, or for a member or element of it. */
	public static boolean isPartOf(String name, String column) {
		return name.startsWith(column)
				&& (name.length() == column.length() || ".[".indexOf(name.charAt(column.length())) >= 0);
	}

	/**
	 * The largest number of arguments that a record is known to have.
	 * @param columns how many values a row has, or 0 if that is not known
	 */
	public int maxArguments(int columns) {
		int most = 0;
		for (RecordTemplate template : this.records) {
			most = Math.max(most, template.arguments() + ((template.mapsAllValues()) ? 2 * columns : 0));
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
		Integer slot = this.slots.get(name);
		return (slot != null) ? this.settings.get(slot) : "fields";
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

	/** Numbers the names of templates. */
	interface Numbers {

		int of(String name, String setting);

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

	}

}
