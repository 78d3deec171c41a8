package io.pipeset.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.lettuce.core.api.async.RedisAsyncCommands;
import io.pipeset.pipeline.call.CallConnection;
import io.pipeset.pipeline.call.RedisCallException;

/**
 * The rights of a connection's user, as
 * <a href="https://redis.io/docs/latest/commands/acl-getuser/">ACL GETUSER</a> says.
 */
final class UserRules {

	private UserRules() {
	}

	/**
	 * Whether the user may run all commands on all keys, and both MSET and SET, in whose
	 * place it goes, are among them.
	 * @param connection an open connection without commands on their way
	 * @param hasUsers whether the server is one that has users with rules
	 * @return {@code false} also where the user may not ask
	 * @throws RedisCallException if there is no answer, or none yet
	 */
	static boolean permitMset(CallConnection connection, boolean hasUsers) {
		try {
			if (hasUsers) {
				String name = connection.call(RedisAsyncCommands::aclWhoami);
				List<Object> rules = connection.call((commands) -> commands.aclGetuser(name));
				if (!"+@all".equals(rule(rules, "commands")) || !List.of("~*", "[*]").contains(rule(rules, "keys"))) {
					return false;
				}
			}
			// A server's configuration may have renamed either.
			List<Object> known = connection.call((commands) -> commands.commandInfo("mset", "set"));
			return known.size() == 2
					&& known.stream().allMatch((row) -> row instanceof List<?> details && !details.isEmpty());
		}
		catch (RedisCallException ex) {
			if (ex.code() == null || ex.isTransient()) {
				throw ex;
			}
			return false;
		}
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
		return (part instanceof List<?> parts) ? parts.stream().map(UserRules::text).toList().toString()
				: String.valueOf(part);
	}

}
