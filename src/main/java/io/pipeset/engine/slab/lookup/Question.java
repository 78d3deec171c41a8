package io.pipeset.engine.slab.lookup;

import java.util.Locale;

/** The questions about each key of a page. */
public enum Question {

	/** The next page of keys. */
	SCAN,

	/** The type of a key. */
	TYPE,

	/** The memory that a key takes. */
	MEMORY_USAGE,

	/** The time that a key has left. */
	PTTL;

	private final String command = name().replace('_', ' ');

	/**
	 * The command that asks it.
	 * @return for instance {@code MEMORY USAGE}
	 */
	public String command() {
		return this.command;
	}

	/**
	 * The rule by which an ACL permits the command.
	 * @return for instance {@code +memory|usage}
	 */
	public String permission() {
		return "+" + name().toLowerCase(Locale.ROOT).replace('_', '|');
	}

}
