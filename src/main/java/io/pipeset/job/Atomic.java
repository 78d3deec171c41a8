package io.pipeset.job;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;
import org.jspecify.annotations.Nullable;

/** What of a job runs as a whole or not at all. */
public enum Atomic {

	/** Nothing but each command by itself. */
	NONE,

	/**
	 * Each batch, which is one
	 * <a href="https://redis.io/docs/latest/develop/using-commands/transactions/">
	 * transaction</a>.
	 */
	BATCH;

	/**
	 * Finds one by its word.
	 * @param label the word, in lower case
	 * @return what it stands for, or {@code null}
	 */
	public static @Nullable Atomic find(String label) {
		return switch (label) {
			case "none" -> NONE;
			case "batch" -> BATCH;
			default -> null;
		};
	}

	/**
	 * The word in settings and reports.
	 * @return none or batch
	 */
	@JsonValue
	public String label() {
		return name().toLowerCase(Locale.ROOT);
	}

}
