package io.pipeset.job.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import io.pipeset.record.Operation;
import io.pipeset.record.encoding.Excerpt;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Nulls;
import io.pipeset.record.mapping.Template;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/** Reads the settings of a call that map rows and objects to records. */
final class MappingSettings {

	private final @Nullable Template key;

	private final @Nullable Template value;

	private final @Nullable List<String> fields;

	private final List<Template> args = new ArrayList<>();

	private final @Nullable Template id;

	private final @Nullable Template ttl;

	private final @Nullable Template expireAt;

	/** The names of the settings that the call gives. */
	private final List<String> given = new ArrayList<>();

	private MappingSettings(Function<String, @Nullable String> query, @Nullable Template ttl,
			@Nullable Template expireAt) {
		this.key = Setting.KEY.take(query).orElse(null);
		this.value = Setting.VALUE.take(query).orElse(null);
		this.fields = Setting.FIELDS.take(query).orElse(null);
		Optional<Template> argument = Setting.ARGS.take(query);
		while (argument.isPresent()) {
			this.args.add(argument.get());
			argument = Setting.ARGS.take(query);
		}
		this.id = Setting.ID.take(query).orElse(null);
		this.ttl = ttl;
		this.expireAt = expireAt;
		addGiven(Setting.KEY, this.key);
		addGiven(Setting.VALUE, this.value);
		addGiven(Setting.FIELDS, this.fields);
		addGiven(Setting.ARGS, (this.args.isEmpty()) ? null : this.args);
		addGiven(Setting.ID, this.id);
		addGiven(Setting.TTL, this.ttl);
		addGiven(Setting.EXPIRE_AT, this.expireAt);
	}

	private void addGiven(Setting<?> row, @Nullable Object value) {
		if (value != null) {
			this.given.add(row.name());
		}
	}

	/**
	 * Takes the settings from a call.
	 * @param query returns and removes the next text of a setting by its name
	 * @param operation the operation of all records; {@code null} if the call names none
	 * @param ttl the template of the time to live; {@code null} for none
	 * @param expireAt the template of the moment of expiry; {@code null} for none
	 * @param defaultNulls how to map nulls if the call does not set it
	 * @throws InvalidSettingException if a value is not allowed, or the settings
	 * contradict each other
	 */
	static Mapping take(Function<String, @Nullable String> query, @Nullable Operation operation, @Nullable Template ttl,
			@Nullable Template expireAt, Nulls defaultNulls) {
		MappingSettings settings = new MappingSettings(query, ttl, expireAt);
		return new Mapping(settings.templates(operation), Setting.NULLS.take(query).orElse(defaultNulls),
				Setting.DELIMITER.take(query).orElse(','), Setting.HEADER.take(query).orElse(null));
	}

	private @Nullable Templates templates(@Nullable Operation operation) {
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
		checkNames(operation);
		String problem = operation.checkCount(arguments(operation));
		if (problem != null) {
			throw new InvalidSettingException(Setting.ARGS.name(),
					"and 'key' make a record that is refused: " + problem);
		}
		Templates templates = new Templates(operation,
				new Templates.Texts(this.key, this.value, this.fields, this.args, this.ttl, this.expireAt, this.id));
		checkSteps(templates);
		return templates;
	}

	private static void checkSteps(Templates templates) {
		for (String name : templates.names()) {
			long steps = 1 + name.chars().filter((character) -> character == '.').count();
			if (steps > Template.MOST_STEPS) {
				throw new InvalidSettingException(templates.settingOf(name),
						"has the name '" + Excerpt.of(name) + "' of " + steps + " steps: a name has at most "
								+ Template.MOST_STEPS + ", with dots between");
			}
		}
	}

	private void checkValues(Operation operation) {
		if (operation != Operation.SET) {
			refuse(Setting.VALUE, "is for SET: " + takes(operation));
		}
		else if (this.value == null) {
			throw missing(Setting.VALUE,
					"SET needs it in addition to 'key', as in value={price}, or value={*} for the whole row");
		}
		if (operation != Operation.HSET) {
			refuse(Setting.FIELDS, "is for HSET: " + takes(operation));
		}
		if (operation == Operation.SET || operation == Operation.HSET) {
			refuse(Setting.ARGS, "is for other operations: " + takes(operation));
		}
	}

	/** Refuses templates without names, because all rows would give the same record. */
	private void checkNames(Operation operation) {
		boolean same = (this.key == null || this.key.names().isEmpty())
				&& this.args.stream().allMatch((argument) -> argument.names().isEmpty());
		if (same) {
			throw new InvalidSettingException(
					((operation == Operation.SET || operation == Operation.HSET) ? Setting.KEY : Setting.ARGS).name(),
					"names no column or member in braces, so that all records would "
							+ ((this.args.isEmpty()) ? "have the same key" : "be the same")
							+ "; curl takes braces out of a URL unless it is called with -g");
		}
	}

	private static String takes(Operation operation) {
		return operation + " takes " + switch (operation) {
			case SET -> "'key' and 'value'";
			case HSET -> "'key', and 'fields' unless they are all";
			default -> (operation.firstKey() == 0) ? "'key' and 'args'" : "'args'";
		};
	}

	/** The arguments of a record; for HSET the fewest, because the row is not known. */
	private int arguments(Operation operation) {
		return switch (operation) {
			case SET -> 2;
			case HSET -> 3;
			default -> ((this.key != null) ? 1 : 0) + this.args.size();
		};
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
