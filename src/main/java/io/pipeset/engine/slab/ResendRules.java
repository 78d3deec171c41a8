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
 * The rules by which a lane sends commands again after all of its slabs have come back.
 * {@link Verdict} lists the cases. The records of a key stay in order. If a later command
 * of a key ran or may have run, and is not sent again, no earlier one is sent again. Only
 * removals of a key may change order, because they leave the same data. A command that
 * must run only once is not sent again before a later one that may have run, even if that
 * one is sent again too.
 */
public final class ResendRules {

	private final boolean resendUnknown;

	private final boolean resendTransient;

	private final Redirect.@Nullable Rule redirects;

	/**
	 * The keys of later commands that ran or may have run and are not sent again, except
	 * removals.
	 */
	private final Set<ByteBuffer> touched = new HashSet<>();

	/** The keys of later removals that ran or may have run and are not sent again. */
	private final Set<ByteBuffer> removed = new HashSet<>();

	/** Whether one of these commands is a script without keys, which may use any key. */
	private boolean touchedAnyKey;

	/** The keys of later commands that may have run and may run once more. */
	private final Set<ByteBuffer> repeated = new HashSet<>();

	/**
	 * The keys of records that may have emptied a hash which a later command may have
	 * made again.
	 */
	private final Set<ByteBuffer> recreated = new HashSet<>();

	private final Set<ByteBuffer> resentKeys = new HashSet<>();

	/** Whether one of these is a script without keys. */
	private boolean resentAnyKey;

	private ResendRules(boolean resendUnknown, boolean resendTransient, Redirect.@Nullable Rule redirects) {
		this.resendUnknown = resendUnknown;
		this.resendTransient = resendTransient;
		this.redirects = redirects;
	}

	/**
	 * Marks the commands to send again.
	 * @param slabs the slabs in the order in which they were sent
	 * @param resendUnknown whether commands that may have run can be sent again
	 * @param resendTransient whether commands with a transient error can be sent again
	 */
	public static void mark(List<Slab> slabs, boolean resendUnknown, boolean resendTransient) {
		mark(slabs, resendUnknown, resendTransient, null);
	}

	/**
	 * Marks the commands to send again.
	 * @param slabs the slabs in the order in which they were sent
	 * @param resendUnknown whether commands that may have run can be sent again
	 * @param resendTransient whether commands with a transient error can be sent again
	 * @param redirects decides which redirected commands are sent again; {@code null}
	 * without a cluster
	 */
	public static void mark(List<Slab> slabs, boolean resendUnknown, boolean resendTransient,
			Redirect.@Nullable Rule redirects) {
		ResendRules rules = new ResendRules(resendUnknown, resendTransient, redirects);
		BitSet[] refused = new BitSet[slabs.size()];
		boolean some = false;
		for (int slab = slabs.size() - 1; slab >= 0; slab--) {
			refused[slab] = rules.mark(slabs.get(slab));
			some |= !refused[slab].isEmpty();
		}
		for (int slab = 0; some && slab < refused.length; slab++) {
			rules.markRefused(slabs.get(slab), refused[slab]);
		}
	}

	/**
	 * Marks commands that are sent again by their own verdict, the last command first.
	 * @return the refused commands that no later command keeps from being sent again
	 */
	private BitSet mark(Slab slab) {
		BitSet refused = new BitSet(0);
		if (slab.errors().hasCulprits()) {
			// No other slab of the lane is in flight.
			slab.toResend().set(0, slab.count());
			slab.toResend().andNot(slab.errors().culprits());
			return refused;
		}
		if (slab.isAtomic()) {
			mark(slab, 0, slab.count(), transactionVerdict(slab), refused);
			return refused;
		}
		SlabErrors errors = slab.errors();
		NotableReplies notableReplies = slab.replies().notableReplies();
		int notable = notableReplies.count() - 1;
		for (int command = slab.count() - 1; command >= 0; command--) {
			boolean found = notable >= 0 && notableReplies.position(notable) == command;
			boolean error = found && notableReplies.kind(notable) == Kind.ERROR;
			Verdict verdict = (command < slab.replies().count())
					? (error) ? errorVerdict(slab, errors, command, notable) : Verdict.RAN
					: (slab.attempt().isUnknown(command)) ? Verdict.UNKNOWN : Verdict.NOT_RUN;
			mark(slab, command, command + 1, verdict, refused);
			notable -= (found) ? 1 : 0;
		}
		return refused;
	}

	private Verdict errorVerdict(Slab slab, SlabErrors errors, int command, int notable) {
		Redirect redirect = (this.redirects != null) ? errors.redirect(notable) : null;
		boolean byScript = redirect != null && errors.isByCallersScript(notable);
		boolean transientError = redirect == null && errors.isTransient(notable);
		if (errors.isCoalescingError(notable) || (transientError && this.resendTransient)
				|| (redirect != null && follows(slab, command, redirect, byScript))) {
			return Verdict.RETRY;
		}
		// A script may have written before it failed.
		return (!transientError && slab.commands().table().operation(command) == Operation.EVALSHA) ? Verdict.RAN
				: Verdict.REFUSED;
	}

	/** The verdict for a transaction, whose commands run all or not at all. */
	private Verdict transactionVerdict(Slab slab) {
		if (slab.isUnknown() || !slab.isWritten()) {
			return (slab.isUnknown()) ? Verdict.UNKNOWN : Verdict.NOT_RUN;
		}
		Redirect redirect = (this.redirects != null) ? slab.errors().transactionRedirect() : null;
		boolean retried = (redirect != null) ? follows(slab, 0, redirect, false)
				: this.resendTransient && slab.errors().transientCode() != null;
		if (slab.errors().areInCommon() || retried) {
			return Verdict.RETRY;
		}
		return (slab.replies().isDiscarded()) ? Verdict.REFUSED : Verdict.RAN;
	}

	private boolean follows(Slab slab, int command, Redirect redirect, boolean byScript) {
		return this.redirects != null
				&& this.redirects.follows(slab, redirect.ofSlot(SlabSlots.of(slab.commands(), command)), byScript);
	}

	private void mark(Slab slab, int first, int end, Verdict verdict, BitSet refused) {
		boolean resend = !verdict.mayHaveRun || (this.resendUnknown && slab.replies().multiRefused() == null
				&& (verdict == Verdict.UNKNOWN || slab.attempt().unconfirmed() != null));
		for (int command = end - 1; resend && command >= first; command--) {
			resend = isUntouched(slab, command) && !seesLaterEffects(slab, command)
					&& (!verdict.mayHaveRun || slab.commands().table().effect(command).isRepeatable());
			Operation operation = slab.commands().table().operation(command);
			if (operation == Operation.HDEL || operation == Operation.HSETEX) {
				slab.commands().keys(command).stream().filter(this.repeated::contains).forEach(this.recreated::add);
			}
			if (verdict.mayHaveRun || slab.earlierLoss(command) != null) {
				this.repeated.addAll(slab.commands().keys(command));
			}
		}
		if (resend) {
			((verdict == Verdict.REFUSED) ? refused : slab.toResend()).set(first, end);
			return;
		}
		for (int command = first; command < end; command++) {
			if (verdict.mayHaveRun || slab.earlierLoss(command) != null) {
				noteKeys(slab, command);
			}
			else if (verdict == Verdict.REFUSED) {
				// Redis might not have refused this one after an earlier command of its
				// key. So no earlier command is sent again.
				this.touched.addAll(slab.commands().keys(command));
			}
		}
	}

	/** Marks refused commands that follow a command which is sent again. */
	private void markRefused(Slab slab, BitSet refused) {
		int step = (slab.isAtomic()) ? slab.count() : 1;
		for (int first = 0; first < slab.count(); first += step) {
			int end = first + step;
			if (refused.get(first) && IntStream.range(first, end).anyMatch((command) -> followsResent(slab, command))) {
				slab.toResend().set(first, end);
			}
			for (int command = first; slab.toResend().get(first) && command < end; command++) {
				List<ByteBuffer> keys = slab.commands().keys(command);
				this.resentKeys.addAll(keys);
				this.resentAnyKey |= keys.isEmpty();
			}
		}
	}

	/** Whether a command shares a key with an earlier command that is sent again. */
	private boolean followsResent(Slab slab, int command) {
		List<ByteBuffer> keys = slab.commands().keys(command);
		return this.resentAnyKey
				|| ((keys.isEmpty()) ? !this.resentKeys.isEmpty() : keys.stream().anyMatch(this.resentKeys::contains));
	}

	/**
	 * Whether a later command that may have run changes the effect of this one. A command
	 * that must run only once (a pop, a RENAME, a script) would use the later one's data.
	 * An EXPIRE would give its time to live to a newer key. An HSET with an expiry is
	 * unsafe if its hash may have been emptied since, by an HDEL, or by an HSETEX whose
	 * fields expire at once.
	 */
	private boolean seesLaterEffects(Slab slab, int command) {
		Operation operation = slab.commands().table().operation(command);
		boolean once = !slab.commands().table().effect(command).isRepeatable();
		boolean hash = operation == Operation.HSET && slab.commands().table().sentAs(command) == Operation.EVALSHA;
		if (slab.commands().verification() != null || (!once && !operation.expiresOnly() && !hash)) {
			return false;
		}
		Set<ByteBuffer> changed = (hash) ? this.recreated : this.repeated;
		List<ByteBuffer> keys = slab.commands().keys(command);
		return (keys.isEmpty()) ? !changed.isEmpty() : keys.stream().anyMatch(changed::contains);
	}

	private void noteKeys(Slab slab, int command) {
		List<ByteBuffer> keys = slab.commands().keys(command);
		((isRemoval(slab, command)) ? this.removed : this.touched).addAll(keys);
		this.touchedAnyKey |= keys.isEmpty();
	}

	/**
	 * Whether no later command that ran or may have run used one of these keys. A script
	 * without keys may have used any.
	 */
	private boolean isUntouched(Slab slab, int command) {
		List<ByteBuffer> keys = slab.commands().keys(command);
		boolean apart = (keys.isEmpty()) ? this.touched.isEmpty() && this.removed.isEmpty()
				: keys.stream().noneMatch(this.touched::contains)
						&& (isRemoval(slab, command) || keys.stream().noneMatch(this.removed::contains));
		return !this.touchedAnyKey && apart;
	}

	private static boolean isRemoval(Slab slab, int command) {
		Operation operation = slab.commands().table().operation(command);
		return operation == Operation.DEL || operation == Operation.UNLINK;
	}

	/** What is known of a command after an attempt, and whether it is sent again. */
	private enum Verdict {

		/**
		 * It ran. It is sent again only if too few replicas have it and a repeat does no
		 * harm.
		 */
		RAN(true),

		/** It may have run. It is sent again if a repeat does no harm. */
		UNKNOWN(true),

		/** It did not run, and is sent again. */
		NOT_RUN(false),

		/**
		 * It got a transient error, was redirected, or only the coalesced command was
		 * refused. It is sent again.
		 */
		RETRY(false),

		/**
		 * Redis refused it for good. It is sent again only after an earlier command of
		 * its key is. In the order of the records, Redis would never have had the state
		 * in which it refused the command.
		 */
		REFUSED(false);

		private final boolean mayHaveRun;

		Verdict(boolean mayHaveRun) {
			this.mayHaveRun = mayHaveRun;
		}

	}

}
