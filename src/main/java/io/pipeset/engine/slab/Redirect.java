package io.pipeset.engine.slab;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * An error by which a node of a cluster says that a command did not run there, and may
 * run elsewhere or later.
 *
 * @param slot the slot that has moved or is being moved; for an error that names none,
 * that of the keys where they are known, or else -1
 * @param target host and port of the node that the slot is at; empty if the error names
 * none
 */
public record Redirect(Kind kind, int slot, String target) {

	private static final Pattern ELSEWHERE = Pattern.compile("(MOVED|ASK) (\\d{1,5}) (\\S*:\\d{1,5})");

	/** Redis's own words, which a script would hardly use itself. */
	private static final Pattern LATER = Pattern
		.compile("(TRYAGAIN) Multiple keys .*|CLUSTERDOWN (The cluster is down|Hash slot not served).*"
				+ "|LOADING \\w+ is loading .*|MASTERDOWN Link with .*");

	/**
	 * The same for a command whose slot is known otherwise.
	 * @return a redirection with that slot, if the error names none
	 */
	Redirect ofSlot(int known) {
		return (this.slot >= 0) ? this : new Redirect(this.kind, known, this.target);
	}

	/**
	 * Reads an error.
	 * @param message the whole error
	 * @return the redirection, or {@code null} for any other error
	 */
	public static @Nullable Redirect of(String message) {
		Matcher elsewhere = ELSEWHERE.matcher(message);
		if (elsewhere.matches()) {
			return new Redirect(Kind.valueOf(elsewhere.group(1)), Integer.parseInt(elsewhere.group(2)),
					elsewhere.group(3));
		}
		Matcher later = LATER.matcher(message);
		return (later.matches()) ? new Redirect((later.group(1) != null) ? Kind.TRYAGAIN : Kind.WAIT, -1, "") : null;
	}

	/** The kinds of redirection. */
	public enum Kind {

		/** The slot has another master. */
		MOVED,

		/** The key may be at another master already, to which its slot is moving. */
		ASK,

		/** Some of the command's keys are at the one master, and some at the other. */
		TRYAGAIN,

		/** Nobody can run the command now, nor others. */
		WAIT

	}

	/** Decides whether a command that was redirected is to be sent again. */
	@FunctionalInterface
	public interface Rule {

		/**
		 * Whether a redirection is to be followed.
		 * @param byScript whether the command runs a caller's script, which may have made
		 * the answer up
		 * @return {@code false} to take it for an error like others
		 */
		boolean follows(Slab slab, Redirect redirect, boolean byScript);

	}

	/** Takes the commands that are to be sent again. */
	@FunctionalInterface
	public interface Visitor {

		/**
		 * Takes a command.
		 * @param command its position in the slab
		 * @param slot its slot, or -1 for a script that names no key
		 * @param redirect the redirection for which it is sent again; {@code null} where
		 * it is sent again for another reason
		 */
		void visit(int command, int slot, @Nullable Redirect redirect);

	}

}
