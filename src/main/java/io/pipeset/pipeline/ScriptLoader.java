package io.pipeset.pipeline;

import io.pipeset.record.Script;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.stereotype.Component;

/** Loads scripts into Redis, which compiles them. */
@Component
public final class ScriptLoader {

	private final RedisCalls calls;

	ScriptLoader(RedisCalls calls) {
		this.calls = calls;
	}

	/**
	 * Loads a script.
	 * @param script the script
	 * @throws ScriptRefusedException if Redis refuses it, with Redis's error
	 * @throws NoConnectionException if Redis was not there to load it
	 */
	public void load(Script script) throws ScriptRefusedException, NoConnectionException {
		try {
			this.calls.load(script.text());
		}
		catch (RedisCallException ex) {
			if (ex.code() != null) {
				throw new ScriptRefusedException(
						String.valueOf(NestedExceptionUtils.getMostSpecificCause(ex).getMessage()));
			}
			throw (ex.getCause() instanceof NoConnectionException none) ? none
					: new NoConnectionException(this.calls.address(), ex);
		}
	}

}
