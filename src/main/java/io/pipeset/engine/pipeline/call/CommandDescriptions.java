package io.pipeset.engine.pipeline.call;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.pipeset.record.Description;
import io.pipeset.record.ModuleCommands;
import io.pipeset.record.Operation;
import org.jspecify.annotations.Nullable;

/**
 * What a server says of its commands by
 * <a href="https://redis.io/docs/latest/commands/command/">COMMAND</a>: those that write,
 * have their keys in fixed places, and concern nothing but these keys.
 */
final class CommandDescriptions {

	/** No commands: the service's user may not ask for them. */
	static final CommandDescriptions NONE = new CommandDescriptions(Map.of());

	private static final Set<String> FOREIGN_FLAGS = Set.of("admin", "blocking", "pubsub", "noscript", "movablekeys");

	private static final Set<String> FOREIGN_CATEGORIES = Set.of("@admin", "@dangerous", "@blocking", "@connection",
			"@transaction", "@pubsub", "@scripting");

	/** Another database is another set of keys, of which the report would not tell. */
	private static final String MOVE = "MOVE";

	/** The positions of an answer's parts; a server before 7.0 has no subcommands. */
	private static final int NAME = 0;

	private static final int ARITY = 1;

	private static final int FLAGS = 2;

	private static final int FIRST_KEY = 3;

	private static final int LAST_KEY = 4;

	private static final int KEY_STEP = 5;

	private static final int CATEGORIES = 6;

	private static final int SUBCOMMANDS = 9;

	/** By the name in upper case; subcommands have both words. */
	private final Map<String, Description> commands;

	private CommandDescriptions(Map<String, Description> commands) {
		this.commands = commands;
	}

	/** Reads the answer to COMMAND. */
	static CommandDescriptions of(List<Object> answer) {
		Map<String, Description> commands = new HashMap<>();
		answer.forEach((command) -> add(commands, command));
		return new CommandDescriptions(Collections.unmodifiableMap(commands));
	}

	private static void add(Map<String, Description> commands, @Nullable Object command) {
		if (!(command instanceof List<?> parts) || parts.size() <= CATEGORIES) {
			return;
		}
		String name = text(parts.get(NAME)).toUpperCase(Locale.ROOT).replace('|', ' ');
		Collection<?> flags = (Collection<?>) parts.get(FLAGS);
		Collection<?> categories = (Collection<?>) parts.get(CATEGORIES);
		int firstKey = number(parts.get(FIRST_KEY));
		int keyStep = number(parts.get(KEY_STEP));
		if (flags.stream().anyMatch((flag) -> text(flag).equals("write")) && firstKey > 0 && keyStep > 0
				&& !name.equals(MOVE) && flags.stream().noneMatch((flag) -> FOREIGN_FLAGS.contains(text(flag)))
				&& categories.stream().noneMatch((category) -> FOREIGN_CATEGORIES.contains(text(category)))) {
			Description description = new Description(number(parts.get(ARITY)), firstKey, number(parts.get(LAST_KEY)),
					keyStep);
			boolean module = name.indexOf('.') >= 0 || flags.stream().anyMatch((flag) -> text(flag).equals("module"));
			Description offered = (module) ? ModuleCommands.describe(name, description) : description;
			if (offered != null) {
				commands.put(name, offered);
			}
		}
		if (parts.size() > SUBCOMMANDS && parts.get(SUBCOMMANDS) instanceof List<?> subcommands) {
			subcommands.forEach((subcommand) -> add(commands, subcommand));
		}
	}

	/**
	 * Finds an operation.
	 * @param name its name in upper case; of a container its own name. A name of two
	 * words is none: the second word is an argument, which could differ from it
	 */
	@Nullable Operation find(String name) {
		if (name.indexOf(' ') >= 0) {
			return null;
		}
		Description description = this.commands.get(name);
		if (description != null) {
			return Operation.described(name, description);
		}
		Map<String, Operation> subcommands = new HashMap<>();
		this.commands.forEach((command, known) -> {
			if (command.startsWith(name + " ")) {
				Operation operation = Operation.described(command, known);
				if (operation != null) {
					subcommands.put(command.substring(name.length() + 1), operation);
				}
			}
		});
		return (subcommands.isEmpty()) ? null : Operation.container(name, subcommands);
	}

	/** The names of all operations, in upper case. */
	Collection<String> names() {
		return this.commands.keySet();
	}

	private static int number(@Nullable Object part) {
		return (part instanceof Long number) ? number.intValue() : 0;
	}

	/** Depending on the version of RESP, texts come as strings or as bytes. */
	private static String text(@Nullable Object part) {
		return (part instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(part);
	}

}
