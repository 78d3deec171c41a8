package io.pipeset.job.settings;

/** The value of a setting is not allowed. */
public final class InvalidSettingException extends IllegalArgumentException {

	private final String setting;

	private final String problem;

	/**
	 * Creates an exception.
	 * @param setting the name of the setting
	 * @param problem the allowed values and the refused one: the rest of a sentence that
	 * begins with the name
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

	/** The reason for the refusal, without the name of the setting. */
	public String problem() {
		return this.problem;
	}

}
