package io.pipeset.engine.slab;

import java.util.BitSet;
import java.util.stream.IntStream;

import io.pipeset.engine.slab.NotableReplies.Kind;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.record.CoalescedCommand;
import io.pipeset.record.Operation;
import org.jspecify.annotations.Nullable;

/** Redis's error replies to a slab, and their meaning for its commands. */
public final class SlabErrors {

	private final Commands commands;

	private final CoalescedCommands coalesced;

	private final Replies replies;

	private final NotableReplies notableReplies;

	private final boolean demoted;

	SlabErrors(Commands commands, CoalescedCommands coalesced, Replies replies, boolean demoted) {
		this.commands = commands;
		this.coalesced = coalesced;
		this.replies = replies;
		this.notableReplies = replies.notableReplies();
		this.demoted = demoted;
	}

	/**
	 * The common code of all errors, if no command ran. For a discarded transaction this
	 * is the code of the reason.
	 * @return the code, or {@code null} if the codes differ or some commands ran
	 */
	public @Nullable String soleCode() {
		return (noneRan() && this.notableReplies.errors() > 0) ? commonCode() : null;
	}

	/**
	 * The code of a transient error: a command did not run, and may run soon. A
	 * transaction has such a code only if Redis discarded it and all its errors have the
	 * same transient code. Any other error would discard it again.
	 * @return the code of the first such error that is no redirection; if all are
	 * redirections, the code of the last; {@code null} if there is none
	 */
	public @Nullable String transientCode() {
		if (this.commands.areAtomic()) {
			String code = soleCode();
			return (this.replies.isDiscarded() && code != null && isTransientCode(code)) ? code : null;
		}
		String first = null;
		for (int notable = 0; notable < this.notableReplies.count(); notable++) {
			if (isTransient(notable) && (first == null || RedisErrors.means(first, Meaning.REDIRECTS))) {
				first = this.notableReplies.refusal(notable).code();
			}
		}
		return first;
	}

	/**
	 * Whether a notable reply is a transient error: the command did not run, and may run
	 * soon. NOSCRIPT is transient if the slab loads the script. If a script itself
	 * returns BUSY, it has run.
	 */
	boolean isTransient(int notable) {
		if (this.notableReplies.kind(notable) != Kind.ERROR) {
			return false;
		}
		int command = this.notableReplies.position(notable);
		Refusal refusal = this.notableReplies.refusal(notable);
		String code = refusal.code();
		boolean transientError = isTransientCode(code) || (code.equals("NOSCRIPT")
				&& this.commands.isScriptLoaded(command) && !this.replies.areScriptsRefused());
		boolean script = this.commands.table().operation(command) == Operation.EVALSHA;
		return transientError && (!script || refusal.isRedisText());
	}

	private boolean isTransientCode(String code) {
		return RedisErrors.means(code, Meaning.TRANSIENT) || (this.demoted && code.equals("READONLY"));
	}

	boolean hasReadOnlyRefusal() {
		return this.notableReplies.errors() > 0 && IntStream.range(0, this.notableReplies.count())
			.anyMatch((notable) -> this.notableReplies.kind(notable) == Kind.ERROR
					&& this.notableReplies.refusal(notable).isReadOnly());
	}

	/**
	 * Whether a cluster node redirected some commands, or had transient errors for them.
	 */
	public boolean areRedirected() {
		if (this.notableReplies.errors() == 0) {
			return false;
		}
		return (this.commands.areAtomic()) ? transactionRedirect() != null
				: IntStream.range(0, this.notableReplies.count()).anyMatch((notable) -> redirect(notable) != null);
	}

	/**
	 * The redirection that a notable reply is, or {@code null}. If the error names
	 * another slot than that of the keys, a script made it up.
	 */
	@Nullable Redirect redirect(int notable) {
		Redirect redirect = (this.notableReplies.kind(notable) == Kind.ERROR)
				? this.notableReplies.refusal(notable).redirect() : null;
		int command = this.notableReplies.position(notable);
		boolean ofOtherSlot = redirect != null && redirect.slot() >= 0 && command < this.commands.count()
				&& redirect.slot() != SlabSlots.of(this.commands, command);
		return (ofOtherSlot) ? null : redirect;
	}

	/** Whether the command that got a notable reply runs a caller's script. */
	boolean isByCallersScript(int notable) {
		int command = this.notableReplies.position(notable);
		return command < this.commands.count() && this.commands.table().operation(command) == Operation.EVALSHA;
	}

	/**
	 * The redirection because of which nothing of a transaction ran, or {@code null}.
	 * While a slot moves, the commands may get different redirections. MOVED wins over
	 * the others. ASK is followed only if all commands got it.
	 */
	@Nullable Redirect transactionRedirect() {
		Redirect all = null;
		for (int notable = 0; this.replies.isDiscarded() && notable < Math.max(commandErrors(), 1); notable++) {
			Redirect next = redirect(notable);
			if (next == null) {
				return null;
			}
			all = (all == null || all.kind() == Redirect.Kind.ASK || next.kind() == Redirect.Kind.MOVED) ? next : all;
		}
		return all;
	}

	/**
	 * Whether a notable reply is an error to a coalesced command that its records might
	 * not get one by one. None of the records ran.
	 */
	boolean isCoalescingError(int notable) {
		int record = this.notableReplies.position(notable);
		if (this.notableReplies.kind(notable) != Kind.ERROR || record >= this.commands.count()
				|| !this.coalesced.isShared(record)) {
			return false;
		}
		Refusal refusal = this.notableReplies.refusal(notable);
		if (this.coalesced.kind(record).hasSeveralKeys()) {
			return !refusal.means(Meaning.OF_SERVER);
		}
		String code = refusal.code();
		boolean ofKey = code.equals("WRONGTYPE") || code.equals("TRYAGAIN")
				|| (code.equals("NOPERM") && !this.coalesced.isMovedByScript(record));
		return !ofKey && !refusal.means(Meaning.OF_SERVER);
	}

	/**
	 * Whether Redis refused a coalesced command for a reason that may not apply to each
	 * of its records. The records can be sent again one by one, because none of them ran.
	 * In a transaction no other command ran either.
	 */
	public boolean areInCommon() {
		if (hasCulprits()) {
			return true;
		}
		return this.notableReplies.errors() > 0 && (!this.commands.areAtomic() || this.replies.isDiscarded())
				&& IntStream.range(0, this.notableReplies.count()).anyMatch(this::isCoalescingError);
	}

	/**
	 * Whether Redis discarded a marked transaction because of some of its commands. The
	 * others can be sent again without these.
	 */
	boolean hasCulprits() {
		if (!this.commands.areMarked() || !this.replies.isDiscarded()) {
			return false;
		}
		int culprits = culprits().cardinality();
		return culprits > 0 && culprits < this.commands.count();
	}

	/** Why Redis refused only the mark of a transaction, for good; or {@code null}. */
	public @Nullable String markRefusal() {
		if (!this.commands.areMarked() || !this.replies.isDiscarded() || commandErrors() != 1
				|| this.notableReplies.position(0) < this.commands.count() || redirect(0) != null
				|| isTransientCode(this.notableReplies.refusal(0).code())) {
			return null;
		}
		return this.notableReplies.refusal(0).message();
	}

	/** The commands that Redis refused to queue in a transaction, for good. */
	BitSet culprits() {
		BitSet culprits = new BitSet();
		for (int notable = 0; notable < commandErrors(); notable++) {
			int command = this.notableReplies.position(notable);
			if (command < this.commands.count() && !isTransientCode(this.notableReplies.refusal(notable).code())
					&& redirect(notable) == null) {
				culprits.set(command);
			}
		}
		return culprits;
	}

	/**
	 * The coalesced commands to use on the connection after such a refusal. Redis would
	 * refuse other commands of the kind too, unless the reason is the data of one key.
	 * @param allowed the coalesced commands allowed so far
	 */
	public Coalescing stillAllowed(Coalescing allowed) {
		boolean severalKeys = allowed.severalKeys();
		boolean countedPops = allowed.countedPops();
		boolean expiringSets = allowed.expiringSets();
		for (int notable = 0; notable < this.notableReplies.count(); notable++) {
			if (isCoalescingError(notable)) {
				CoalescedCommand kind = this.coalesced.kind(this.notableReplies.position(notable));
				severalKeys &= !kind.hasSeveralKeys() || kind == CoalescedCommand.MSETEX;
				expiringSets &= kind != CoalescedCommand.MSETEX;
				countedPops &= kind != CoalescedCommand.COUNT;
			}
		}
		return new Coalescing(severalKeys, countedPops, allowed.sets(), expiringSets);
	}

	/**
	 * Why Redis runs no transactions: it refused MULTI, or it refused EXEC for lack of
	 * permission; {@code null} if it did neither.
	 */
	@Nullable String transactionRefusal() {
		Refusal multi = this.replies.multiRefused();
		if (multi != null) {
			return "Redis refused MULTI (" + multi.message() + "), so it ran the commands of a batch one by one."
					+ " The report gives the outcome of each";
		}
		if (this.replies.isDiscarded() && this.notableReplies.count() == 1
				&& this.notableReplies.refusal(0).code().equals("NOPERM")) {
			return "Redis refused EXEC (" + this.notableReplies.refusal(0).message()
					+ "), so it ran no command of the batch";
		}
		return null;
	}

	/**
	 * Why Redis runs no command for a moving slot at its new node: the user may not send
	 * ASKING.
	 * @return the end of a job's message, or {@code null} if Redis did not refuse ASKING
	 * for lack of permission
	 */
	public @Nullable String askingRefusal() {
		Refusal asking = this.replies.askingRefused();
		return (asking != null && asking.firstWord().equals("NOPERM")) ? "Redis refused ASKING (" + asking.message()
				+ "). Without ASKING, no command can be sent to a slot while the slot moves."
				+ " Allow it by ACL SETUSER <user> +asking at every node, then send again the records that did not run."
				: null;
	}

	/**
	 * Whether the connection is still in a transaction. Some versions of Redis refuse
	 * EXEC without discarding the queued commands.
	 */
	boolean isTransactionOpen() {
		if (!this.replies.isDiscarded()) {
			return false;
		}
		String code = this.notableReplies.refusal(this.notableReplies.count() - 1).firstWord();
		return !code.equals(RedisErrors.EXECABORT) && !RedisErrors.means(code, Meaning.REDIRECTS);
	}

	/** The number of errors. */
	public int count() {
		return this.notableReplies.errors();
	}

	/** Whether no command ran: Redis answered each with an error, or discarded all. */
	public boolean noneRan() {
		return this.replies.isDiscarded() || this.notableReplies.errors() == this.commands.count();
	}

	private @Nullable String commonCode() {
		String code = this.notableReplies.refusal(0).code();
		boolean same = IntStream.range(1, commandErrors())
			.allMatch((notable) -> this.notableReplies.refusal(notable).code().equals(code));
		return (same) ? code : null;
	}

	/** The number of notable replies without the error to EXEC. */
	private int commandErrors() {
		return this.notableReplies.count() - ((this.replies.isDiscarded()) ? 1 : 0);
	}

}
