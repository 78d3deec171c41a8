package io.pipeset.engine.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.lettuce.core.api.async.RedisAsyncCommands;
import io.pipeset.engine.pipeline.call.CallConnection;
import io.pipeset.engine.pipeline.call.RedisCallException;

/**
 * The rights of a connection's user, as
 * <a href="https://redis.io/docs/latest/commands/acl-getuser/">ACL GETUSER</a> says.
 *
 * @param severalKeys whether the user may run all commands on all keys, and both MSET and
 * SET, in whose place it goes, are among them
 * @param hasMsetex whether MSETEX is among them as well
 */
record UserPermissions(boolean severalKeys, boolean hasMsetex) {

	private static final UserPermissions RESTRICTED = new UserPermissions(false, false);

	/**
	 * Asks for the rules.
	 * @param connection an open connection without commands on their way
	 * @param hasUsers whether the server is one that has users with rules
	 * @return those of a restricted user also where the user may not ask
	 * @throws RedisCallException if there is no answer, or none yet
	 */
	static UserPermissions ask(CallConnection connection, boolean hasUsers) {
		try {
			if (hasUsers) {
				String name = connection.call(RedisAsyncCommands::aclWhoami);
				List<Object> rules = connection.call((commands) -> commands.aclGetuser(name));
				if (!"+@all".equals(rule(rules, "commands")) || !List.of("~*", "[*]").contains(rule(rules, "keys"))) {
					return RESTRICTED;
				}
			}
			// A server's configuration may have renamed any of them.
			List<Object> known = connection.call((commands) -> commands.commandInfo("mset", "set", "msetex"));
			return new UserPermissions(isKnown(known, 0) && isKnown(known, 1), isKnown(known, 2));
		}
		catch (RedisCallException ex) {
			if (ex.code() == null || ex.isTransient()) {
				throw ex;
			}
			return RESTRICTED;
		}
	}

	private static boolean isKnown(List<Object> known, int command) {
		return known.size() > command && known.get(command) instanceof List<?> details && !details.isEmpty();
	}

	private static String rule(List<Object> rules, String name) {
		for (int i = 0; i + 1 < rules.size(); i += 2) {
			if (text(rules.get(i)).equals(name)) {
				return text(rules.get(i + 1));
			}
		}
		return "";
	}

	private static String text(Object part) {
		if (part instanceof byte[] bytes) {
			return new String(bytes, StandardCharsets.UTF_8);
		}
		return (part instanceof List<?> parts) ? parts.stream().map(UserPermissions::text).toList().toString()
				: String.valueOf(part);
	}

}
