package io.pipeset.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

import io.lettuce.core.api.async.RedisAsyncCommands;

/**
 * The rules of the user that a connection has logged in as, as
 * <a href="https://redis.io/docs/latest/commands/acl-getuser/">ACL GETUSER</a> lists
 * them.
 */
final class UserRules {

	private UserRules() {
	}

	/**
	 * Whether the user may run all commands on all keys.
	 * @param connection an open connection without commands on their way
	 * @return {@code false} also where the user may not ask
	 * @throws RedisCallException if there is no answer, or none yet
	 */
	static boolean permitAll(CallConnection connection) {
		try {
			String name = connection.call(RedisAsyncCommands::aclWhoami);
			List<Object> rules = connection.call((commands) -> commands.aclGetuser(name));
			return "+@all".equals(rule(rules, "commands")) && List.of("~*", "[*]").contains(rule(rules, "keys"));
		}
		catch (RedisCallException ex) {
			if (ex.code() == null || ex.isTransient()) {
				throw ex;
			}
			// Before Redis 6 there were no such rules.
			return String.valueOf(ex.getMessage()).toLowerCase(Locale.ROOT).contains("unknown command");
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
