package io.pipeset.request;

import java.util.List;

/** The value of a setting is not allowed. */
public final class InvalidSettingException extends IllegalArgumentException {

	private final String setting;

	private final String problem;

	private final List<String> allowed;

	/**
	 * Creates an exception.
	 * @param setting the name of the setting
	 * @param problem the allowed values and the refused one: the rest of a sentence that
	 * begins with the name
	 */
	public InvalidSettingException(String setting, String problem) {
		this(setting, problem, List.of());
	}

	/**
	 * Creates an exception whose answer lists the allowed values apart from the sentence.
	 * @param setting the name of the setting
	 * @param problem the rest of a sentence that begins with the name
	 * @param allowed the allowed values; empty if the sentence has them
	 */
	InvalidSettingException(String setting, String problem, List<String> allowed) {
		super("'" + setting + "' " + problem);
		this.setting = setting;
		this.problem = problem;
		this.allowed = List.copyOf(allowed);
	}

	/** The name of the setting. */
	public String setting() {
		return this.setting;
	}

	/** The allowed values; empty if the message has them. */
	public List<String> allowed() {
		return this.allowed;
	}

	/** The reason for the refusal, without the name of the setting. */
	public String problem() {
		return this.problem;
	}

}
