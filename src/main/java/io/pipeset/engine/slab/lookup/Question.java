package io.pipeset.engine.slab.lookup;

import java.util.Locale;

/** The questions that a lookup asks Redis, each by one command. */
public enum Question {

	/** The next page of keys. */
	SCAN,

	/** The type of a key. */
	TYPE,

	/** The memory that a key takes. */
	MEMORY_USAGE,

	/** The time to live of a key. */
	PTTL;

	private final String command = name().replace('_', ' ');

	/**
	 * The command that asks the question.
	 * @return for instance {@code MEMORY USAGE}
	 */
	public String command() {
		return this.command;
	}

	/**
	 * The ACL rule that permits the command.
	 * @return for instance {@code +memory|usage}
	 */
	public String permission() {
		return "+" + name().toLowerCase(Locale.ROOT).replace('_', '|');
	}

}
