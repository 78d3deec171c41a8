package io.pipeset.engine.slab;

import java.util.stream.IntStream;

import io.pipeset.engine.slab.NotableReplies.Kind;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.record.CoalescedCommand;
import io.pipeset.record.Operation;
import org.jspecify.annotations.Nullable;

/** The errors that Redis answered to a slab, and what they mean for its commands. */
public final class SlabErrors {

	private final Commands commands;

	private final CoalescedCommands common;

	private final Replies replies;

	private final NotableReplies findings;

	private final boolean demoted;

	SlabErrors(Commands commands, CoalescedCommands common, Replies replies, boolean demoted) {
		this.commands = commands;
		this.common = common;
		this.replies = replies;
		this.findings = replies.findings();
		this.demoted = demoted;
	}

	/**
	 * The one code of all errors, if no command ran. A discarded transaction has the code
	 * of the error for which Redis discarded it.
	 * @return the error's first word, or {@code null} where errors differ or some
	 * commands ran
	 */
	public @Nullable String soleCode() {
		return (noneRan() && this.findings.errors() > 0) ? sole() : null;
	}

	/**
	 * The code of an error which says that a command did not run, and may run in a
	 * moment. A transaction has none if one of its commands ran, or would be refused
	 * again: that would discard the others again as well.
	 * @return the first such error's code, rather one that no redirection has, or
	 * {@code null}
	 */
	public @Nullable String transientCode() {
		if (this.commands.areAtomic()) {
			String code = soleCode();
			return (this.replies.isDiscarded() && code != null && passes(code)) ? code : null;
		}
		String first = null;
		for (int finding = 0; finding < this.findings.count(); finding++) {
			if (isTransient(finding) && (first == null || RedisErrors.means(first, Meaning.REDIRECTS))) {
				first = this.findings.refusal(finding).code();
			}
		}
		return first;
	}

	/**
	 * Whether a finding says that a command did not run, and may run in a moment. A
	 * missing script is loaded again if its text is known. A script that itself answers
	 * BUSY has run.
	 */
	boolean isTransient(int finding) {
		if (this.findings.kind(finding) != Kind.ERROR) {
			return false;
		}
		int command = this.findings.position(finding);
		Refusal refusal = this.findings.refusal(finding);
		String code = refusal.code();
		boolean passes = passes(code) || (code.equals("NOSCRIPT") && this.commands.isScriptLoaded(command)
				&& !this.replies.areScriptsRefused());
		boolean script = this.commands.table().operation(command) == Operation.EVALSHA;
		return passes && (!script || refusal.isOfRedis());
	}

	private boolean passes(String code) {
		return RedisErrors.means(code, Meaning.TRANSIENT) || (this.demoted && code.equals("READONLY"));
	}

	/** Whether commands were refused because the server is a replica. */
	boolean areOfReplica() {
		return this.findings.errors() > 0 && IntStream.range(0, this.findings.count())
			.anyMatch((finding) -> this.findings.kind(finding) == Kind.ERROR
					&& this.findings.refusal(finding).isOfReplica());
	}

	/**
	 * Whether a node of a cluster did not run some commands, which belong elsewhere or
	 * have to wait.
	 */
	public boolean areRedirected() {
		if (this.findings.errors() == 0) {
			return false;
		}
		return (this.commands.areAtomic()) ? transactionRedirect() != null
				: IntStream.range(0, this.findings.count()).anyMatch((finding) -> redirect(finding) != null);
	}

	/**
	 * The redirection that a finding is, or {@code null}. Only a script would name
	 * another slot than that of its keys.
	 */
	@Nullable Redirect redirect(int finding) {
		Redirect redirect = (this.findings.kind(finding) == Kind.ERROR) ? this.findings.refusal(finding).redirect()
				: null;
		int command = this.findings.position(finding);
		boolean ofOtherSlot = redirect != null && redirect.slot() >= 0 && command < this.commands.count()
				&& redirect.slot() != SlabSlots.of(this.commands, command);
		return (ofOtherSlot) ? null : redirect;
	}

	/** Whether the command of a finding runs a caller's script. */
	boolean isByScript(int finding) {
		int command = this.findings.position(finding);
		return command < this.commands.count() && this.commands.table().operation(command) == Operation.EVALSHA;
	}

	/**
	 * The redirection for which nothing of a transaction ran, or {@code null}. While its
	 * slot moves, its commands may get different redirections. A new master comes first;
	 * another node is asked only if all commands were told so.
	 */
	@Nullable Redirect transactionRedirect() {
		Redirect all = null;
		for (int finding = 0; this.replies.isDiscarded() && finding < Math.max(culprits(), 1); finding++) {
			Redirect next = redirect(finding);
			if (next == null) {
				return null;
			}
			all = (all == null || all.kind() == Redirect.Kind.ASK || next.kind() == Redirect.Kind.MOVED) ? next : all;
		}
		return all;
	}

	/**
	 * Whether a finding is an error to a common command which its records might not get
	 * by themselves. None of them ran.
	 */
	boolean isOfOthers(int finding) {
		int record = this.findings.position(finding);
		if (this.findings.kind(finding) != Kind.ERROR || record >= this.commands.count()
				|| !this.common.isShared(record)) {
			return false;
		}
		Refusal refusal = this.findings.refusal(finding);
		if (this.common.common(record).hasSeveralKeys()) {
			return !refusal.means(Meaning.OF_SERVER);
		}
		String code = refusal.code();
		boolean ofKey = code.equals("WRONGTYPE") || code.equals("TRYAGAIN")
				|| (code.equals("NOPERM") && !this.common.isByScript(record));
		return !ofKey && !refusal.means(Meaning.OF_SERVER);
	}

	/**
	 * Whether Redis refused a command that several records have in common, for a reason
	 * that may not be every record's own. None of them ran, nor did anything else of
	 * their transaction, so that they can be sent again one by one.
	 */
	public boolean areInCommon() {
		return this.findings.errors() > 0 && (!this.commands.areAtomic() || this.replies.isDiscarded())
				&& IntStream.range(0, this.findings.count()).anyMatch(this::isOfOthers);
	}

	/**
	 * The common commands that the connection allows, after such a refusal. Other
	 * commands of its kind would meet it as well, unless it is for the data of one key.
	 */
	public Coalescing stillAllowed(Coalescing allowed) {
		boolean severalKeys = allowed.severalKeys();
		boolean countedPops = allowed.countedPops();
		boolean expiringSets = allowed.expiringSets();
		for (int finding = 0; finding < this.findings.count(); finding++) {
			if (isOfOthers(finding)) {
				CoalescedCommand common = this.common.common(this.findings.position(finding));
				severalKeys &= !common.hasSeveralKeys() || common == CoalescedCommand.MSETEX;
				expiringSets &= common != CoalescedCommand.MSETEX;
				countedPops &= common != CoalescedCommand.COUNT;
			}
		}
		return new Coalescing(severalKeys, countedPops, allowed.sets(), expiringSets);
	}

	/**
	 * Why Redis will run no transaction: it refused MULTI, or it refused EXEC itself and
	 * for good; {@code null} where it did neither.
	 */
	@Nullable String transactionRefusal() {
		Refusal multi = this.replies.multiRefused();
		if (multi != null) {
			return "Redis refused MULTI (" + multi.message() + "), and so ran the commands of a batch one by one:"
					+ " the report says what became of each";
		}
		if (this.replies.isDiscarded() && this.findings.count() == 1
				&& this.findings.refusal(0).code().equals("NOPERM")) {
			return "Redis refused EXEC (" + this.findings.refusal(0).message() + "), and so ran nothing of its batch";
		}
		return null;
	}

	/**
	 * Why Redis runs no command at the node that a slot is moving to: it refused ASKING
	 * because the user may not send it.
	 * @return the end of a job's message, or {@code null} where it did not refuse it
	 */
	public @Nullable String askingRefusal() {
		Refusal asking = this.replies.askingRefused();
		return (asking != null && asking.firstWord().equals("NOPERM"))
				? "Redis refused ASKING (" + asking.message()
						+ "), without which nothing can be sent to a slot while it moves."
						+ " Permit it by ACL SETUSER <user> +asking at every node, then send again what did not run."
				: null;
	}

	/**
	 * Whether the connection is left in a transaction: some versions of Redis refuse EXEC
	 * without discarding what it was to run.
	 */
	boolean isTransactionOpen() {
		if (!this.replies.isDiscarded()) {
			return false;
		}
		String code = this.findings.refusal(this.findings.count() - 1).firstWord();
		return !code.equals(RedisErrors.EXECABORT) && !RedisErrors.means(code, Meaning.REDIRECTS);
	}

	/** Whether Redis answered every command with an error, or discarded them all. */
	public boolean noneRan() {
		return this.replies.isDiscarded() || this.findings.errors() == this.commands.count();
	}

	private @Nullable String sole() {
		String code = this.findings.refusal(0).code();
		boolean same = IntStream.range(1, culprits())
			.allMatch((finding) -> this.findings.refusal(finding).code().equals(code));
		return (same) ? code : null;
	}

	/** The errors beside the one to EXEC. */
	private int culprits() {
		return this.findings.count() - ((this.replies.isDiscarded()) ? 1 : 0);
	}

}
