package io.pipeset.engine.pipeline.call;

/** Redis refuses to load a script. The message is Redis's error. */
public final class ScriptRefusedException extends Exception {

	ScriptRefusedException(String error) {
		super(error);
	}

	/**
	 * Whether the script itself is wrong.
	 * @return {@code false} if Redis would refuse any script now
	 */
	public boolean isFaultOfScript() {
		return String.valueOf(getMessage()).startsWith("ERR ");
	}

}
