package io.pipeset.job.settings;

/** The value of a setting is not allowed. */
public final class InvalidSettingException extends IllegalArgumentException {

	private final String setting;

	private final String problem;

	/**
	 * Refuses a value.
	 * @param setting the name of the setting
	 * @param problem the values that are allowed, and the one that was given
	 */
	public InvalidSettingException(String setting, String problem) {
		super("'" + setting + "' " + problem);
		this.setting = setting;
		this.problem = problem;
	}

	/**
	 * The name of the setting.
	 * @return the name as in a query string
	 */
	public String setting() {
		return this.setting;
	}

	/**
	 * The reason why its value is refused.
	 * @return the values that are allowed, and the one that was given
	 */
	public String problem() {
		return this.problem;
	}

}
