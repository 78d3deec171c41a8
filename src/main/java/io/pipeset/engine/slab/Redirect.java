package io.pipeset.engine.slab;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * An error by which a cluster node says that a command did not run there, but may run at
 * another node or later.
 *
 * @param slot the slot that has moved or is moving; if the error names none, the slot of
 * the keys if known, else -1
 * @param target host and port of the node that has the slot; empty if the error names
 * none
 */
public record Redirect(Kind kind, int slot, String target) {

	private static final Pattern OTHER_NODE = Pattern.compile("(MOVED|ASK) (\\d{1,5}) (\\S*:\\d{1,5})");

	/** Redis's own texts. A script would hardly return the same text. */
	private static final Pattern LATER = Pattern
		.compile("(TRYAGAIN) Multiple keys .*|CLUSTERDOWN (The cluster is down|Hash slot not served).*"
				+ "|LOADING \\w+ is loading .*|MASTERDOWN Link with .*");

	/**
	 * Adds the slot of the command to a redirection that names no slot.
	 * @param known the slot of the command
	 * @return this redirection if it names a slot, else a copy with the known slot
	 */
	Redirect ofSlot(int known) {
		return (this.slot >= 0) ? this : new Redirect(this.kind, known, this.target);
	}

	/**
	 * Parses an error.
	 * @param message the whole error
	 * @return the redirection, or {@code null} for any other error
	 */
	public static @Nullable Redirect of(String message) {
		Matcher otherNode = OTHER_NODE.matcher(message);
		if (otherNode.matches()) {
			return new Redirect(Kind.valueOf(otherNode.group(1)), Integer.parseInt(otherNode.group(2)),
					otherNode.group(3));
		}
		Matcher later = LATER.matcher(message);
		return (later.matches()) ? new Redirect((later.group(1) != null) ? Kind.TRYAGAIN : Kind.WAIT, -1, "") : null;
	}

	/** The kinds of redirections. */
	public enum Kind {

		/** The slot has another master. */
		MOVED,

		/** The slot is moving, and the key may already be at the target. */
		ASK,

		/** The slot is moving, and the command's keys are at both masters. */
		TRYAGAIN,

		/** No node can run this command, or others, now. */
		WAIT

	}

	/** Decides whether a redirected command is sent again. */
	@FunctionalInterface
	public interface Rule {

		/**
		 * Whether to follow a redirection.
		 * @param byScript whether the command runs a caller's script, which may have made
		 * the error up
		 * @return {@code false} to handle the redirection like any other error
		 */
		boolean follows(Slab slab, Redirect redirect, boolean byScript);

	}

}
