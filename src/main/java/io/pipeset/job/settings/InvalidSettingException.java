package io.pipeset.job.settings;

/** The value of a setting is not allowed. */
public final class InvalidSettingException extends IllegalArgumentException {

	private final String setting;

	private final String problem;

	/**
	 * Refuses a value.
	 * @param problem the values that are allowed, and the one that was given
	 */
	public InvalidSettingException(String setting, String problem) {
		super("'" + setting + "' " + problem);
		this.setting = setting;
		this.problem = problem;
	}

	/** The name of the setting. */
	public String setting() {
		return this.setting;
	}

	/** The reason why its value is refused. */
	public String problem() {
		return this.problem;
	}

}
