package io.pipeset.record.mapping;

/** A text is no template. */
public final class TemplateException extends RuntimeException {

	/** Whether the message says no more than that. */
	private final boolean general;

	TemplateException(String message) {
		this(message, false);
	}

	private TemplateException(String message, boolean general) {
		super(message, null, false, false);
		this.general = general;
	}

	/** Braces or quotes that do not match. */
	static TemplateException noTemplate() {
		return new TemplateException("has braces or quotes that do not match", true);
	}

	/**
	 * Whether there is no more to say than what a setting allows.
	 * @return {@code false} if the message, to follow the name of a setting, says more
	 */
	public boolean isGeneral() {
		return this.general;
	}

}
