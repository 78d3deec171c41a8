package io.pipeset.engine.slab;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import io.pipeset.engine.slab.NotableReplies.Kind;
import io.pipeset.record.Operation;
import org.jspecify.annotations.Nullable;

/**
 * The rules by which a lane sends commands again, once all of its slabs have come back.
 * {@link Verdict} is their table, a row for each fate. The records of a key stay in
 * order: if a later command of the key ran, or may have, and does not go again, no
 * earlier one goes again either. Only removals of a key may change places, as they leave
 * the same. A command that must run only once does not go again ahead of a later one that
 * may have run, even if that goes again as well.
 */
public final class ResendRules {

	private final boolean unknownToo;

	private final boolean transientToo;

	private final Redirect.@Nullable Rule redirects;

	/** The keys of later commands that ran, or may have, and stay; but for removals. */
	private final Set<ByteBuffer> touched = new HashSet<>();

	/** The keys of later removals that ran, or may have, and stay. */
	private final Set<ByteBuffer> removed = new HashSet<>();

	/** Whether one of these commands was a script that names no key, and may use any. */
	private boolean touchedAny;

	/** The keys of later commands that may have run, and run once more. */
	private final Set<ByteBuffer> repeated = new HashSet<>();

	/**
	 * The keys of records ahead of these that may have emptied a hash, which may have
	 * been made anew since.
	 */
	private final Set<ByteBuffer> remade = new HashSet<>();

	/** The keys of earlier commands that go again. */
	private final Set<ByteBuffer> ahead = new HashSet<>();

	/** Whether one of these is a script that names no key. */
	private boolean aheadAny;

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
		BitSet[] refused = new BitSet[slabs.size()];
		boolean some = false;
		for (int slab = slabs.size() - 1; slab >= 0; slab--) {
			refused[slab] = rules.mark(slabs.get(slab));
			some |= !refused[slab].isEmpty();
		}
		for (int slab = 0; some && slab < refused.length; slab++) {
			rules.follow(slabs.get(slab), refused[slab]);
		}
	}

	/**
	 * Marks commands that go again by themselves, the last one first.
	 * @return those that were refused, and that no later command keeps from going again
	 */
	private BitSet mark(Slab slab) {
		BitSet refused = new BitSet(0);
		if (slab.isAtomic()) {
			mark(slab, 0, slab.count(), toldAll(slab), refused);
			return refused;
		}
		SlabErrors errors = slab.errors();
		NotableReplies findings = slab.replies().findings();
		int finding = findings.count() - 1;
		for (int command = slab.count() - 1; command >= 0; command--) {
			boolean found = finding >= 0 && findings.position(finding) == command;
			boolean error = found && findings.kind(finding) == Kind.ERROR;
			Verdict told = (command < slab.replies().count())
					? (error) ? told(slab, errors, command, finding) : Verdict.THAT_IT_RAN
					: (slab.isUnknown()) ? Verdict.NOTHING : Verdict.THAT_IT_DID_NOT_RUN;
			mark(slab, command, command + 1, told, refused);
			finding -= (found) ? 1 : 0;
		}
		return refused;
	}

	/** The row of an error. */
	private Verdict told(Slab slab, SlabErrors errors, int command, int finding) {
		Redirect redirect = (this.redirects != null) ? errors.redirect(finding) : null;
		boolean byScript = redirect != null && errors.isByScript(finding);
		boolean passes = redirect == null && errors.isTransient(finding);
		if (errors.isOfOthers(finding) || (passes && this.transientToo)
				|| (redirect != null && follows(slab, command, redirect, byScript))) {
			return Verdict.RETRY;
		}
		// A script may have written before it failed.
		return (!passes && slab.commands().table().operation(command) == Operation.EVALSHA) ? Verdict.THAT_IT_RAN
				: Verdict.THAT_IT_IS_REFUSED;
	}

	/** The row of a transaction, all of whose commands share one fate. */
	private Verdict toldAll(Slab slab) {
		if (slab.isUnknown() || !slab.isWritten()) {
			return (slab.isUnknown()) ? Verdict.NOTHING : Verdict.THAT_IT_DID_NOT_RUN;
		}
		Redirect redirect = (this.redirects != null) ? slab.errors().transactionRedirect() : null;
		boolean passes = (redirect != null) ? follows(slab, 0, redirect, false)
				: this.transientToo && slab.errors().transientCode() != null;
		if (slab.errors().areInCommon() || passes) {
			return Verdict.RETRY;
		}
		return (slab.replies().isDiscarded()) ? Verdict.THAT_IT_IS_REFUSED : Verdict.THAT_IT_RAN;
	}

	private boolean follows(Slab slab, int command, Redirect redirect, boolean byScript) {
		return this.redirects != null
				&& this.redirects.follows(slab, redirect.ofSlot(SlabSlots.of(slab.commands(), command)), byScript);
	}

	/** Marks a command, or all those of a transaction. */
	private void mark(Slab slab, int first, int end, Verdict told, BitSet refused) {
		boolean goes = !told.mayHaveRun || (this.unknownToo && slab.replies().multiRefused() == null
				&& (told == Verdict.NOTHING || slab.attempt().unconfirmed() != null));
		for (int command = end - 1; goes && command >= first; command--) {
			goes = isUntouched(slab, command) && !findsLater(slab, command)
					&& (!told.mayHaveRun || slab.commands().table().effect(command).isRepeatable());
			Operation operation = slab.commands().table().operation(command);
			if (operation == Operation.HDEL || operation == Operation.HSETEX) {
				slab.commands().keys(command).stream().filter(this.repeated::contains).forEach(this.remade::add);
			}
			if (told.mayHaveRun || slab.earlierLoss(command) != null) {
				this.repeated.addAll(slab.commands().keys(command));
			}
		}
		if (goes) {
			((told == Verdict.THAT_IT_IS_REFUSED) ? refused : slab.again()).set(first, end);
			return;
		}
		for (int command = first; command < end; command++) {
			if (told.mayHaveRun || slab.earlierLoss(command) != null) {
				touch(slab, command);
			}
			else if (told == Verdict.THAT_IT_IS_REFUSED) {
				// No earlier command goes again around it: it might not be refused then.
				this.touched.addAll(slab.commands().keys(command));
			}
		}
	}

	/** Marks commands that were refused behind others that go again. */
	private void follow(Slab slab, BitSet refused) {
		int step = (slab.isAtomic()) ? slab.count() : 1;
		for (int first = 0; first < slab.count(); first += step) {
			int end = first + step;
			if (refused.get(first) && IntStream.range(first, end).anyMatch((command) -> isBehind(slab, command))) {
				slab.again().set(first, end);
			}
			for (int command = first; slab.again().get(first) && command < end; command++) {
				List<ByteBuffer> keys = slab.commands().keys(command);
				this.ahead.addAll(keys);
				this.aheadAny |= keys.isEmpty();
			}
		}
	}

	/** Whether an earlier command that goes again shares a key with this one. */
	private boolean isBehind(Slab slab, int command) {
		List<ByteBuffer> keys = slab.commands().keys(command);
		return this.aheadAny
				|| ((keys.isEmpty()) ? !this.ahead.isEmpty() : keys.stream().anyMatch(this.ahead::contains));
	}

	/**
	 * Whether a command would do something else behind a later one that may have run. One
	 * that must run only once would take, count or copy what that left: a pop, a RENAME,
	 * a script. An EXPIRE would give its time to live to a key that is newer than it. The
	 * time of an HSET ends with its hash, which an HDEL may empty, and an HSETEX whose
	 * fields expire at once.
	 */
	private boolean findsLater(Slab slab, int command) {
		Operation operation = slab.commands().table().operation(command);
		boolean once = !slab.commands().table().effect(command).isRepeatable();
		boolean hash = operation == Operation.HSET && slab.commands().table().sentAs(command) == Operation.EVALSHA;
		if (!once && !operation.expiresOnly() && !hash) {
			return false;
		}
		Set<ByteBuffer> others = (hash) ? this.remade : this.repeated;
		List<ByteBuffer> keys = slab.commands().keys(command);
		return (keys.isEmpty()) ? !others.isEmpty() : keys.stream().anyMatch(others::contains);
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

	/** The answers to a command at one attempt, and whether the command goes again. */
	private enum Verdict {

		/**
		 * It goes again only if too few replicas have it, and a repeat does no harm.
		 */
		THAT_IT_RAN(true),

		/** It may have run, and goes again if a repeat does no harm. */
		NOTHING(true),

		/** It goes again. */
		THAT_IT_DID_NOT_RUN(false),

		/**
		 * Redis put it off, or sent it elsewhere, or refused it in company only: it goes
		 * again.
		 */
		RETRY(false),

		/**
		 * Redis refused it for good. It goes again only behind an earlier command of its
		 * key that goes again: the order of the records would never have shown the state
		 * in which Redis refused it.
		 */
		THAT_IT_IS_REFUSED(false);

		private final boolean mayHaveRun;

		Verdict(boolean mayHaveRun) {
			this.mayHaveRun = mayHaveRun;
		}

	}

}
