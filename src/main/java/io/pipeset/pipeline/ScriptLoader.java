package io.pipeset.pipeline;

import io.lettuce.core.RedisCommandExecutionException;
import io.pipeset.record.Script;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.stereotype.Component;

/** Loads scripts into Redis, which compiles them. */
@Component
public final class ScriptLoader {

	private final RedisConnectionFactory factory;

	ScriptLoader(RedisConnectionFactory factory) {
		this.factory = factory;
	}

	/**
	 * Loads a script.
	 * @param script the script
	 * @throws ScriptRefusedException if Redis refuses it, with Redis's error
	 * @throws NoConnectionException if Redis was not there to load it
	 */
	public void load(Script script) throws ScriptRefusedException, NoConnectionException {
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.scriptingCommands().scriptLoad(script.text());
		}
		catch (DataAccessException ex) {
			Throwable cause = NestedExceptionUtils.getMostSpecificCause(ex);
			if (cause instanceof RedisCommandExecutionException) {
				throw new ScriptRefusedException(String.valueOf(cause.getMessage()));
			}
			throw new NoConnectionException(cause);
		}
	}

}
