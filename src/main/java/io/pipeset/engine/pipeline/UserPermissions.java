package io.pipeset.engine.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.lettuce.core.api.async.RedisAsyncCommands;
import io.pipeset.engine.pipeline.call.CallConnection;
import io.pipeset.engine.pipeline.call.RedisCallException;

/**
 * The permissions of a connection's user, from
 * <a href="https://redis.io/docs/latest/commands/acl-getuser/">ACL GETUSER</a>.
 *
 * @param severalKeys whether the user may run all commands on all keys, and the server
 * knows both MSET and SET. MSET replaces several SETs
 * @param hasMsetex whether the server also knows MSETEX
 */
record UserPermissions(boolean severalKeys, boolean hasMsetex) {

	private static final UserPermissions RESTRICTED = new UserPermissions(false, false);

	/**
	 * Queries the permissions.
	 * @param connection an open connection without commands in flight
	 * @param hasUsers whether the server supports users with rules
	 * @return the permissions; those of a restricted user also if the user may not query
	 * them
	 * @throws RedisCallException if the server does not answer, or cannot answer yet
	 */
	static UserPermissions query(CallConnection connection, boolean hasUsers) {
		try {
			if (hasUsers) {
				String name = connection.call(RedisAsyncCommands::aclWhoami);
				List<Object> rules = connection.call((commands) -> commands.aclGetuser(name));
				if (!"+@all".equals(rule(rules, "commands")) || !List.of("~*", "[*]").contains(rule(rules, "keys"))) {
					return RESTRICTED;
				}
			}
			// The server's configuration may have renamed any of these commands.
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
