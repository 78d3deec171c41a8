package io.pipeset.record;

import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * The commands of Redis's own modules by their
 * <a href="https://redis.io/docs/latest/commands/">documentation</a>. What a server says
 * of a module's keys is not enough: it names one key of CMS.MERGE, which reads others,
 * and none of the hashes that FT.DROPINDEX removes.
 */
public final class ModuleCommands {

	private static final Pattern SURE = Pattern
		.compile("(JSON|BF|CF|TS|TOPK)\\.[A-Z]+|CMS\\.(INCRBY|INITBYDIM|INITBYPROB)|TDIGEST\\.(ADD|CREATE|RESET)"
				+ "|FT\\.SUGADD|V(ADD|REM|SETATTR)");

	/** They define an index, whose hashes and documents have any keys. */
	private static final Pattern INDEX = Pattern.compile("FT\\.(CREATE|ALTER)");

	private static final Pattern FOREIGN = Pattern.compile("FT\\..*|_.*");

	private static final Pattern TWO_KEYS = Pattern.compile("TS\\.(CREATERULE|DELETERULE)");

	private ModuleCommands() {
	}

	/** Whether the keys of a command, described by a server, are all that it concerns. */
	static boolean hasSureKeys(String name) {
		return name.indexOf('.') < 0 || SURE.matcher(name).matches();
	}

	/** Whether a command defines an index, which reads keys that it does not name. */
	public static boolean isIndex(String name) {
		return INDEX.matcher(name).matches();
	}

	/**
	 * Describes a command of a module.
	 * @param description the server's
	 * @return {@code null} for one that no record may have
	 */
	public static @Nullable Description describe(String name, Description description) {
		boolean sure = SURE.matcher(name).matches();
		if (!sure && !isIndex(name) && (name.indexOf('.') < 0 || FOREIGN.matcher(name).matches())) {
			return null;
		}
		return (TWO_KEYS.matcher(name).matches()) ? new Description(description.arity(), 1, 2, 1) : description;
	}

}
