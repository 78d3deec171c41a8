package io.pipeset.slab;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.ListIterator;
import java.util.Set;

import io.pipeset.record.Operation;
import io.pipeset.slab.Findings.Kind;
import org.jspecify.annotations.Nullable;

/**
 * The rules by which a lane sends commands again, once all of its slabs have come back. A
 * command that Redis answered for good is not sent again; a command that was not written
 * is; a command that may have run is if running it twice does no harm, and so is one that
 * ran on a server that was lost before its replicas had confirmed it. No command is sent
 * again that would then run after a later command of the same key, so that the records of
 * a key stay in order. Only removals of a key may change places, which leave the same.
 */
public final class ResendRules {

	private final boolean unknownToo;

	private final boolean transientToo;

	/** The keys of later commands that ran, or may have, but for removals. */
	private final Set<ByteBuffer> touched = new HashSet<>();

	/** The keys of later removals that ran, or may have. */
	private final Set<ByteBuffer> removed = new HashSet<>();

	/** Whether one of these commands was a script that names no key, and may use any. */
	private boolean touchedAny;

	/** The keys of later commands that may have run and are sent again. */
	private final Set<ByteBuffer> repeated = new HashSet<>();

	private final Redirect.@Nullable Rule redirects;

	private ResendRules(boolean unknownToo, boolean transientToo, Redirect.@Nullable Rule redirects) {
		this.unknownToo = unknownToo;
		this.transientToo = transientToo;
		this.redirects = redirects;
	}

	/**
	 * Marks the commands that are to be sent again.
	 * @param slabs in the order in which they were sent
	 * @param unknownToo whether commands that may have run can be sent again at all
	 * @param transientToo whether commands can that Redis refused for a transient reason
	 */
	public static void mark(List<Slab> slabs, boolean unknownToo, boolean transientToo) {
		mark(slabs, unknownToo, transientToo, null);
	}

	/**
	 * Marks the commands that are to be sent again.
	 * @param slabs in the order in which they were sent
	 * @param unknownToo whether commands that may have run can be sent again at all
	 * @param transientToo whether commands can that Redis refused for a transient reason
	 * @param redirects says which of the commands can that a cluster redirected;
	 * {@code null} where there is none
	 */
	public static void mark(List<Slab> slabs, boolean unknownToo, boolean transientToo,
			Redirect.@Nullable Rule redirects) {
		ResendRules rules = new ResendRules(unknownToo, transientToo, redirects);
		for (ListIterator<Slab> last = slabs.listIterator(slabs.size()); last.hasPrevious();) {
			rules.mark(last.previous());
		}
	}

	private void mark(Slab slab) {
		if (slab.isAtomic()) {
			markWhole(slab);
		}
		else {
			markUnanswered(slab);
			markAnswered(slab);
		}
	}

	/** A transaction goes again as a whole, or not at all. */
	private void markWhole(Slab slab) {
		boolean unknown = slab.isUnknown() || (isUnconfirmed(slab) && !slab.replies().isDiscarded());
		boolean again = (unknown) ? this.unknownToo && slab.replies().multiRefused() == null
				: !slab.isWritten() || slab.errors().areInCommon() || passes(slab);
		for (int command = slab.count() - 1; again && command >= 0; command--) {
			again = isUntouched(slab, command) && (!unknown || isRepeatable(slab, command));
		}
		if (again) {
			slab.again().set(0, slab.count());
			return;
		}
		boolean ran = slab.isWritten() && !slab.replies().isDiscarded();
		for (int command = 0; command < slab.count(); command++) {
			if (ran || slab.earlierLoss(command) != null) {
				touch(slab, command);
			}
		}
	}

	/** Whether nothing of a transaction ran, and it may run in a moment or elsewhere. */
	private boolean passes(Slab slab) {
		Redirect redirect = (this.redirects != null) ? slab.errors().transactionRedirect() : null;
		return (redirect != null) ? follows(slab, redirect, false)
				: this.transientToo && slab.errors().transientCode() != null;
	}

	private boolean follows(Slab slab, Redirect redirect, boolean byScript) {
		return this.redirects != null && this.redirects.follows(slab, redirect, byScript);
	}

	private void markUnanswered(Slab slab) {
		for (int command = slab.count() - 1; command >= slab.replies().count(); command--) {
			boolean repeats = !slab.isUnknown() || (this.unknownToo && isRepeatable(slab, command));
			if (repeats && isUntouched(slab, command)) {
				slab.again().set(command);
			}
			else if (slab.isUnknown() || slab.earlierLoss(command) != null) {
				touch(slab, command);
			}
		}
	}

	private void markAnswered(Slab slab) {
		Replies replies = slab.replies();
		SlabErrors errors = slab.errors();
		int finding = replies.findings().count() - 1;
		for (int command = replies.count() - 1; command >= 0; command--) {
			boolean found = finding >= 0 && replies.findings().position(finding) == command;
			boolean inCommon = found && errors.isOfOthers(finding);
			Redirect redirect = (found && this.redirects != null) ? errors.redirect(finding) : null;
			boolean byScript = redirect != null && errors.isByScript(finding);
			boolean follows = redirect != null && follows(slab,
					(byScript) ? redirect.ofSlot(SlabSlots.of(slab.commands(), command)) : redirect, byScript);
			boolean passes = (redirect != null) ? follows : found && errors.isTransient(finding);
			// A script may have written before it failed.
			boolean ran = !found || replies.findings().kind(finding) != Kind.ERROR
					|| (!passes && slab.commands().table().operation(command) == Operation.EVALSHA);
			boolean repeats = ran && isUnconfirmed(slab) && isRepeatable(slab, command);
			if ((inCommon || follows || (passes && this.transientToo) || repeats) && isUntouched(slab, command)) {
				slab.again().set(command);
			}
			else if (ran || slab.earlierLoss(command) != null) {
				touch(slab, command);
			}
			finding -= (found) ? 1 : 0;
		}
	}

	/** Whether commands that ran are to run once more, as replicas may not have them. */
	private boolean isUnconfirmed(Slab slab) {
		return this.unknownToo && slab.attempt().unconfirmed() != null;
	}

	/**
	 * Whether a command that may have run does no harm if it runs again. EXPIRE does
	 * nothing to a key that does not exist, and so must not meet a key that a later
	 * command made at its first attempt.
	 */
	private boolean isRepeatable(Slab slab, int command) {
		List<ByteBuffer> keys = slab.commands().keys(command);
		boolean repeatable = slab.commands().table().effect(command).isRepeatable()
				&& (!slab.commands().table().operation(command).expiresOnly()
						|| keys.stream().noneMatch(this.repeated::contains));
		if (repeatable) {
			this.repeated.addAll(keys);
		}
		return repeatable;
	}

	private void touch(Slab slab, int command) {
		List<ByteBuffer> keys = slab.commands().keys(command);
		((isRemoval(slab, command)) ? this.removed : this.touched).addAll(keys);
		this.touchedAny |= keys.isEmpty();
	}

	/**
	 * Whether no later command that ran, or may have, used one of these keys. A script
	 * without keys may have used any.
	 */
	private boolean isUntouched(Slab slab, int command) {
		List<ByteBuffer> keys = slab.commands().keys(command);
		boolean apart = (keys.isEmpty()) ? this.touched.isEmpty() && this.removed.isEmpty()
				: keys.stream().noneMatch(this.touched::contains)
						&& (isRemoval(slab, command) || keys.stream().noneMatch(this.removed::contains));
		return !this.touchedAny && apart;
	}

	private static boolean isRemoval(Slab slab, int command) {
		Operation operation = slab.commands().table().operation(command);
		return operation == Operation.DEL || operation == Operation.UNLINK;
	}

}
