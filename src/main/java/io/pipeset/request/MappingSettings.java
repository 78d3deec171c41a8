package io.pipeset.request;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import io.pipeset.record.Operation;
import io.pipeset.record.OperationFinder;
import io.pipeset.record.body.FormatHints;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.CellSyntax;
import io.pipeset.record.mapping.CellSyntax.Escape;
import io.pipeset.record.mapping.FieldTemplate;
import io.pipeset.record.mapping.Header;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Rows;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import io.pipeset.record.mapping.Word;
import org.jspecify.annotations.Nullable;

/** Reads the settings of a call that map rows and objects to records. */
final class MappingSettings {

	/** The most commands that a row may make. */
	private static final int MOST_COMMANDS = 64;

	/** The options of SET that are conditions. */
	private static final Set<String> EXPIRIES = Set.of("EX", "PX", "EXAT", "PXAT");

	private static final String KEEPTTL = "KEEPTTL";

	private final @Nullable Template key;

	private final @Nullable Template value;

	private final @Nullable List<FieldTemplate> fields;

	private final List<Word> args;

	private final List<List<Word>> commands;

	private final @Nullable Template id;

	private final @Nullable Template ttl;

	private final @Nullable Template expireAt;

	private final Rows rows;

	/** The names of those that are given. */
	private final List<String> given = new ArrayList<>();

	private MappingSettings(Function<String, @Nullable String> query, boolean commands, @Nullable Template ttl,
			@Nullable Template expireAt) {
		this.key = Setting.KEY.take(query).orElse(null);
		this.value = Setting.VALUE.take(query).orElse(null);
		this.fields = Setting.FIELDS.take(query).orElse(null);
		this.args = all(Setting.ARGS, query);
		this.commands = (commands) ? all(Setting.COMMAND, query) : List.of();
		this.id = Setting.ID.take(query).orElse(null);
		this.ttl = ttl;
		this.expireAt = expireAt;
		this.rows = Setting.ROWS_ARE.take(query).orElse(Rows.OBJECTS);
		addGiven(Setting.COMMAND, (this.commands.isEmpty()) ? null : this.commands);
		addGiven(Setting.KEY, this.key);
		addGiven(Setting.VALUE, this.value);
		addGiven(Setting.FIELDS, this.fields);
		addGiven(Setting.ARGS, (this.args.isEmpty()) ? null : this.args);
		addGiven(Setting.ID, this.id);
		addGiven(Setting.TTL, this.ttl);
		addGiven(Setting.EXPIRE_AT, this.expireAt);
	}

	private static <T> List<T> all(Setting<T> row, Function<String, @Nullable String> query) {
		List<T> all = new ArrayList<>();
		Optional<T> next = row.take(query);
		while (next.isPresent()) {
			all.add(next.get());
			next = row.take(query);
		}
		return all;
	}

	private void addGiven(Setting<?> row, @Nullable Object value) {
		if (value != null) {
			this.given.add(row.name());
		}
	}

	/**
	 * Takes the settings from a call.
	 * @param query takes the text of a setting by its name, of {@code args} the next one
	 * @param path the path of the call, as in the table of settings
	 * @param operation the operation that the call names; {@code null} if it names none
	 * @param operations finds the operations that commands name
	 * @param ttl the time to live as a template, or {@code null}
	 * @param expireAt when keys expire as a template, or {@code null}
	 * @param defaultValue what nulls mean if the call does not say it
	 * @throws InvalidSettingException if the settings do not fit together
	 */
	static Mapping take(Function<String, @Nullable String> query, String path, @Nullable Operation operation,
			OperationFinder operations, @Nullable Template ttl, @Nullable Template expireAt, Nulls defaultValue) {
		MappingSettings settings = new MappingSettings(query, Setting.COMMAND.isFor(path), ttl, expireAt);
		Templates templates = settings.templates(operation, operations);
		if (settings.rows.text() != null && templates == null) {
			throw new InvalidSettingException(Setting.ROWS_ARE.name(),
					"needs templates: give 'op' and 'key' too, as in op=SET&key={@key}&value={@value}&rows=entries");
		}
		Header header = Setting.HEADER.take(query).orElse(Header.FIRST_ROW);
		if (header.kind() == Header.Kind.ABSENT) {
			check(templates);
		}
		Optional<Nulls> nulls = Setting.NULLS.take(query);
		nulls.ifPresent((given) -> settings.check(given, operation, templates));
		CellSyntax cells = new CellSyntax(Setting.DELIMITER.take(query).orElse(null),
				Setting.ESCAPE.take(query).orElse(Escape.NONE), all(Setting.NULL, query),
				Setting.TRIM.take(query).orElse(false), Setting.COMMENT.take(query).orElse(null));
		return new Mapping(templates, nulls.orElse(settings.usual(defaultValue, operation, templates)), cells, header,
				settings.rows);
	}

	/** What nulls mean by a default, if that has a meaning for these templates. */
	private Nulls usual(Nulls defaultValue, @Nullable Operation operation, @Nullable Templates templates) {
		try {
			check(defaultValue, operation, templates);
			return defaultValue;
		}
		catch (InvalidSettingException ex) {
			return Nulls.REFUSE;
		}
	}

	/** Checks the templates of a table without a header. */
	private static void check(@Nullable Templates templates) {
		if (templates == null) {
			throw new InvalidSettingException(Setting.HEADER.name(),
					"is 'absent', so that templates have to name the columns by their numbers: give 'op' and 'key' too,"
							+ " as in op=SET&key=user:{@1}&value={@2}");
		}
		if (templates.mapsAllValues()) {
			throw new InvalidSettingException(Setting.HEADER.name(), "is 'absent', and '" + templates.settingOfAll()
					+ "' takes all columns, which have no names then: name them by header=a,b,c");
		}
	}

	private void check(Nulls nulls, @Nullable Operation operation, @Nullable Templates templates) {
		if (nulls == Nulls.DELETE && operation != Operation.SET) {
			throw new InvalidSettingException(Setting.NULLS.name(),
					"'delete' is for SET alone, whose null value makes the record a DEL: give op=SET");
		}
		if (nulls == Nulls.DELETE && !onlyExpire()) {
			throw new InvalidSettingException(Setting.NULLS.name(),
					"'delete' goes with no 'args' but an expiry, as in args=EX&args={secs}: a DEL has no conditions");
		}
		if (!this.commands.isEmpty() && nulls != Nulls.REFUSE && templates != null && !templates.hasSpread()) {
			throw new InvalidSettingException(Setting.NULLS.name(),
					"has a meaning with 'command' only for what is spread, as in {tags...}, because the words after a null"
							+ " would move: put the words into a group, as in command=SET {id} {name} [ EX {secs} ]");
		}
	}

	/** Whether the options of SET are an expiry and nothing else. */
	private boolean onlyExpire() {
		boolean time = false;
		for (Word word : this.args) {
			String name = name(word);
			if (!time && !word.opens() && !word.closes() && !EXPIRIES.contains(name) && !name.equals(KEEPTTL)) {
				return false;
			}
			time = !time && EXPIRIES.contains(name);
		}
		return true;
	}

	/** An option in upper case; an empty text for a word of a row. */
	private static String name(Word word) {
		String literal = word.literal();
		return (literal != null) ? literal.toUpperCase(Locale.ROOT) : "";
	}

	private @Nullable Templates templates(@Nullable Operation operation, OperationFinder operations) {
		if (!this.commands.isEmpty()) {
			return ofCommands(operation, operations);
		}
		if (this.given.isEmpty()) {
			return null;
		}
		if (operation == null) {
			throw new InvalidSettingException(this.given.get(0),
					"needs the operation of all records: give 'op' too, as in op=HSET&key=user:{id}");
		}
		boolean hasKey = operation.firstKey() == 0;
		if (!hasKey) {
			refuse(Setting.KEY, "does not go with " + operation + ", whose keys stand among its 'args'");
			if (this.args.isEmpty()) {
				throw missing(Setting.ARGS, operation + " needs it: one 'args' for each argument of the command");
			}
		}
		else if (this.key == null) {
			throw new InvalidSettingException(this.given.get(0),
					((this.given.size() == 1 && (this.ttl != null || this.expireAt != null))
							? "is a template, which has a meaning only" : "has a meaning only")
							+ " with 'key', the template of each record's key");
		}
		checkValues(operation);
		checkSpreads();
		checkNames(operation);
		checkGroups(Setting.ARGS, this.args);
		if ((this.ttl != null || this.expireAt != null)
				&& this.args.stream().anyMatch((word) -> name(word).equals(KEEPTTL))) {
			throw new InvalidSettingException(Setting.ARGS.name(),
					"has KEEPTTL, and '" + ((this.ttl != null) ? "ttl" : "expireAt") + "' is another expiry");
		}
		checkTexts(Setting.VALUE, Stream.ofNullable(this.value));
		checkTexts(Setting.ARGS, this.args.stream().map(Word::template));
		if (this.fields != null) {
			checkTexts(Setting.FIELDS, this.fields.stream().map(FieldTemplate::template));
		}
		checkCount(operation);
		return checked(new Templates(operation, texts()));
	}

	private Templates.Texts texts() {
		return new Templates.Texts(this.key, this.value, this.fields, this.args, this.commands, this.ttl, this.expireAt,
				this.id);
	}

	private Templates ofCommands(@Nullable Operation operation, OperationFinder finder) {
		if (operation != null) {
			throw new InvalidSettingException(Setting.COMMAND.name(),
					"names the operation itself: leave 'op' out, which is " + operation);
		}
		for (Setting<?> row : List.of(Setting.KEY, Setting.VALUE, Setting.FIELDS, Setting.ARGS, Setting.TTL,
				Setting.EXPIRE_AT)) {
			refuse(row, "does not go with 'command', whose words say it all");
		}
		if (this.commands.size() > MOST_COMMANDS) {
			throw new InvalidSettingException(Setting.COMMAND.name(),
					"is given " + this.commands.size() + " times; allowed are " + MOST_COMMANDS + " commands of a row");
		}
		List<Operation> operations = this.commands.stream().map((command) -> operation(command, finder)).toList();
		if (this.commands.stream().flatMap(List::stream).allMatch(Word::isLiteral)) {
			throw new InvalidSettingException(Setting.COMMAND.name(),
					"names no column or member in braces, so that all rows would make the same records; curl takes"
							+ " braces out of a URL unless it is called with -g");
		}
		for (int i = 0; i < this.commands.size(); i++) {
			List<Word> words = this.commands.get(i);
			int first = ((words.get(0).opens()) ? 2 : 1) + ((operations.get(i).firstKey() == 0) ? 1 : 0);
			check(Setting.COMMAND, words.stream().map(Word::template), Template::problemOfBraces);
			check(Setting.COMMAND, words.stream().skip(first).map(Word::template), Template::problemOfJson);
		}
		return checked(new Templates(operations, texts()));
	}

	/** Refuses braces that another tool would read as a value, and JSON that is none. */
	private static void checkTexts(Setting<?> row, Stream<@Nullable Template> templates) {
		List<@Nullable Template> all = templates.toList();
		check(row, all.stream(), Template::problemOfBraces);
		check(row, all.stream(), Template::problemOfJson);
	}

	private static void check(Setting<?> row, Stream<@Nullable Template> templates,
			Function<Template, @Nullable String> check) {
		templates.forEach((template) -> {
			String problem = (template != null) ? check.apply(template) : null;
			if (problem != null) {
				throw new InvalidSettingException(row.name(), problem);
			}
		});
	}

	private static Operation operation(List<Word> command, OperationFinder finder) {
		checkGroups(Setting.COMMAND, command);
		Word name = command.get((command.get(0).opens() && command.size() > 1) ? 1 : 0);
		if (command.get(0).opens() && closing(command) < command.size() - 1) {
			throw new InvalidSettingException(Setting.COMMAND.name(),
					"begins with a group: only a whole command can be one, as in [ EXPIRE {key} {secs} ]");
		}
		int before = command.indexOf(name);
		String literal = name.literal();
		if (literal == null) {
			throw new InvalidSettingException(Setting.COMMAND.name(),
					"begins with the operation's name, which no row can change, not with '" + Excerpt.of(name.text())
							+ "'");
		}
		Operation operation = finder.find(literal);
		if (operation != null && operation.isContainer()) {
			String second = (command.size() > before + 1) ? command.get(before + 1).literal() : null;
			operation = (second != null) ? operation.subcommand(second) : null;
		}
		if (operation == null) {
			throw new InvalidSettingException(Setting.COMMAND.name(),
					"begins with the operation's name: " + FormatHints.unknownOperation(Excerpt.of(literal), finder));
		}
		boolean known = command.stream().allMatch((word) -> word.template() != null && !word.template().isSpread());
		String problem = (known) ? operation.checkCount(command.size() - 1) : null;
		if (problem != null) {
			throw new InvalidSettingException(Setting.COMMAND.name(), "makes a record that is refused: " + problem);
		}
		return operation;
	}

	/** The position of the bracket that closes the group which the first one opens. */
	private static int closing(List<Word> command) {
		int depth = 0;
		for (int i = 0; i < command.size(); i++) {
			depth += (command.get(i).opens()) ? 1 : (command.get(i).closes()) ? -1 : 0;
			if (depth == 0) {
				return i;
			}
		}
		return command.size();
	}

	private static void checkGroups(Setting<?> row, List<Word> words) {
		String problem = Word.problem(words);
		if (problem != null) {
			throw new InvalidSettingException(row.name(), problem);
		}
	}

	private static Templates checked(Templates templates) {
		Templates.Problem problem = templates.problem();
		if (problem != null) {
			throw new InvalidSettingException(problem.setting(), problem.text());
		}
		return templates;
	}

	private void checkValues(Operation operation) {
		if (operation != Operation.SET) {
			refuse(Setting.VALUE, "is for SET: " + takes(operation));
		}
		else if (this.value == null) {
			throw missing(Setting.VALUE,
					"SET needs it in addition to 'key', as in value={price}, or value={*} for the whole row");
		}
		if (operation != Operation.HSET && operation != Operation.XADD) {
			refuse(Setting.FIELDS, "is for HSET and XADD: " + takes(operation));
		}
	}

	private void checkSpreads() {
		checkSpread(Setting.KEY, this.key);
		checkSpread(Setting.VALUE, this.value);
		checkSpread(Setting.ID, this.id);
		checkSpread(Setting.TTL, this.ttl);
		checkSpread(Setting.EXPIRE_AT, this.expireAt);
	}

	private static void checkSpread(Setting<?> row, @Nullable Template template) {
		if (template != null && template.isSpread()) {
			throw new InvalidSettingException(row.name(), "is one value, and '" + template
					+ "' makes each element an argument: that is for 'args', 'fields'" + " and 'command'");
		}
	}

	/**
	 * Refuses templates of which all rows would give the same record. The fields of an
	 * entry of a stream, and those that are spread, vary.
	 */
	private void checkNames(Operation operation) {
		boolean same = (this.key == null || this.key.isLiteral()) && this.args.stream().allMatch(Word::isLiteral);
		boolean varies = operation == Operation.XADD
				|| (this.fields != null && this.fields.stream().anyMatch((field) -> field.template().isSpread()));
		if (same && !varies) {
			throw new InvalidSettingException(((this.args.isEmpty()) ? Setting.KEY : Setting.ARGS).name(),
					"names no column or member in braces, so that all records would "
							+ ((this.args.isEmpty() || operation == Operation.SET) ? "have the same key"
									: "be the same")
							+ "; curl takes braces out of a URL unless it is called with -g");
		}
	}

	private static String takes(Operation operation) {
		String takes = (operation == Operation.SET) ? "'key' and 'value'"
				: (operation == Operation.HSET || operation == Operation.XADD)
						? "'key', and 'fields' unless they are all"
						: (operation.firstKey() == 0) ? "'key' and 'args'" : "'args'";
		return operation + " takes " + takes;
	}

	/** Refuses a record that would have a wrong number of arguments for all rows. */
	private void checkCount(Operation operation) {
		boolean fields = operation == Operation.XADD || (operation == Operation.HSET && this.args.isEmpty());
		boolean varies = this.fields != null || fields
				|| this.args.stream().anyMatch((word) -> word.template() == null || word.template().isSpread());
		String problem = (varies) ? null : operation
			.checkCount(((this.key != null) ? 1 : 0) + ((this.value != null) ? 1 : 0) + this.args.size());
		if (problem != null) {
			throw new InvalidSettingException(Setting.ARGS.name(),
					"and 'key' make a record that is refused: " + problem);
		}
	}

	private void refuse(Setting<?> row, String problem) {
		if (this.given.contains(row.name())) {
			throw new InvalidSettingException(row.name(), problem);
		}
	}

	private static InvalidSettingException missing(Setting<?> row, String problem) {
		return new InvalidSettingException(row.name(), "is missing: " + problem);
	}

}
