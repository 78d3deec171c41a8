package io.pipeset.job;

/** A setting has a value that is not allowed. */
public final class InvalidSettingException extends IllegalArgumentException {

	private final String setting;

	private final String problem;

	InvalidSettingException(String setting, String problem) {
		super("'" + setting + "' " + problem);
		this.setting = setting;
		this.problem = problem;
	}

	/**
	 * The setting's name.
	 * @return as in a query string
	 */
	public String setting() {
		return this.setting;
	}

	/**
	 * What is wrong with its value.
	 * @return what is allowed and what was met
	 */
	public String problem() {
		return this.problem;
	}

}
