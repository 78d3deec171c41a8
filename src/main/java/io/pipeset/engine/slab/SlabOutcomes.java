package io.pipeset.engine.slab;

import java.util.Arrays;
import java.util.List;

import io.pipeset.engine.slab.NotableReplies.Kind;
import io.pipeset.engine.slab.RedisErrors.Meaning;
import io.pipeset.record.Effect;
import io.pipeset.record.Operation;
import io.pipeset.report.Account;
import io.pipeset.report.Item;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Item.Reply;
import io.pipeset.report.Outcome;
import io.pipeset.report.OutcomeLog;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes of a slab that came back, entered into the job's account. The row of its
 * operation says what the reply to a command means. A command without a reply is unknown
 * if it was written, and unprocessed if not. A command that may have run at an earlier
 * attempt is unknown too, unless Redis has answered now that it ran.
 */
final class SlabOutcomes {

	private static final int[] NO_SPANS = new int[0];

	private static final int SMALL_NAME_BYTES = 256;

	private static final Failure NOT_SENT = new Failure(Loss.NOT_SENT, "The job ended before it was sent", true);

	private final Slab slab;

	private final SlabErrors errors;

	private final Account account;

	private final Loss loss;

	/** Why commands that ran are unknown all the same; {@code null} if they are not. */
	private final @Nullable Loss unconfirmed;

	private long unconfirmedRecords;

	private long applied;

	private long sentAgain;

	/** Commands in a row with one operation and outcome, which are counted at once. */
	private long run;

	private @Nullable Operation runOperation;

	private @Nullable Outcome runOutcome;

	/** Commands in a row with one error code, which are counted at once. */
	private long failedRun;

	private String failedCode = "";

	/** The places of the values that stand in a list of their own. */
	private int[] spans = NO_SPANS;

	private int values;

	private final @Nullable OutcomeLog log;

	/** Whether replies are listed at all, asked once for the whole slab. */
	private final boolean listsReplies;

	SlabOutcomes(Slab slab, Account account, Loss loss) {
		this.slab = slab;
		this.errors = slab.errors();
		this.account = account;
		this.loss = loss;
		this.unconfirmed = slab.attempt().unconfirmed();
		this.listsReplies = account.wantsReplies();
		this.log = account.log();
	}

	void enter() {
		Replies replies = this.slab.replies();
		int finding = 0;
		for (int command = 0; command < replies.count(); command++) {
			boolean found = finding < replies.findings().count() && replies.findings().position(finding) == command;
			int said = (found) ? finding++ : (replies.isDiscarded()) ? replies.findings().count() - 1 : -1;
			if (this.slab.again().get(command)) {
				sentAgain(command, said);
			}
			else if (said < 0) {
				ran(command, false, null);
			}
			else {
				answered(command, said);
			}
		}
		for (int command = replies.count(); command < this.slab.count(); command++) {
			if (!this.slab.again().get(command)) {
				unanswered(command);
			}
		}
		endRun();
		endFailedRun();
		if (this.log != null) {
			this.log.flush();
		}
		enterValues();
		String refusal = this.errors.transactionRefusal();
		if (refusal != null) {
			this.account.transactionRefused(refusal);
		}
		this.account.losses().ran(this.slab.attempt().switches(), this.applied, this.unconfirmedRecords);
		this.account.sent(this.slab.attempt().sentCommands(), this.slab.attempt().bytes(),
				replies.count() - this.sentAgain);
	}

	private void sentAgain(int command, int finding) {
		this.sentAgain++;
		if (this.unconfirmed != null && (finding < 0 || this.slab.replies().findings().kind(finding) != Kind.ERROR)) {
			this.slab.ranUnconfirmed(command, this.unconfirmed);
		}
	}

	/** The outcome of commands that ran, and wrote something. */
	private Outcome ran() {
		return (this.unconfirmed != null) ? Outcome.UNKNOWN : Outcome.APPLIED;
	}

	/**
	 * Counts a command that ran, and lists its reply if one is given. A command that did
	 * nothing has nothing that replicas could confirm.
	 */
	private void ran(int command, boolean noop, @Nullable Reply reply) {
		Outcome outcome = (noop) ? Outcome.NOOP : ran();
		count(command, outcome);
		Failure failure = null;
		if (this.unconfirmed != null && !noop) {
			this.unconfirmedRecords++;
			failed(this.unconfirmed.code());
			failure = failure(this.unconfirmed, "", this.slab.commands().table().effect(command).isRepeatable());
			log(command, outcome, failure);
		}
		else if (this.log != null) {
			this.log.ran(this.slab.commands().table().index(command), noop);
		}
		if (reply != null || (failure != null && claimItem(command, outcome, failure.message().length()))) {
			list(command, outcome, failure, reply);
		}
	}

	private void answered(int command, int finding) {
		Replies replies = this.slab.replies();
		Effect effect = this.slab.commands().table().effect(command);
		Kind kind = replies.findings().kind(finding);
		if (kind == Kind.ERROR) {
			refused(command, finding);
			return;
		}
		if (effect.takesValues()) {
			popped(command, finding);
			return;
		}
		if ((effect == Effect.PARTS || effect.isDescribed()) && refusedInPart(command, finding)) {
			return;
		}
		if (effect == Effect.DESCRIBED && takenByDescribed(command, finding)) {
			return;
		}
		boolean noop = effect.isNoop(kind == Kind.NIL,
				effect.tellsByNumber() && Long.valueOf(0).equals(decoder(command, finding).next()));
		int bytes = replies.findings().bytes(finding);
		boolean lists = bytes > 0 && this.account.wantsReplies()
				&& claimItem(command, (noop) ? Outcome.NOOP : ran(), bytes);
		ran(command, noop, (lists) ? new Reply(decoder(command, finding).next()) : null);
	}

	/**
	 * Counts a command as rejected if Redis refused one of its parts; {@code false} where
	 * it refused none.
	 */
	private boolean refusedInPart(int command, int finding) {
		ReplyDecoder decoder = decoder(command, finding);
		int parts = (decoder.next() instanceof List<?> list) ? list.size() : 1;
		String error = decoder.firstError();
		if (error == null) {
			return false;
		}
		int ran = parts - decoder.errors();
		if (ran > 0) {
			this.account.ranInPart();
		}
		count(command, Outcome.REJECTED);
		failed(RedisErrors.firstWord(error));
		boolean claimed = claimItem(command, Outcome.REJECTED, error.length());
		if (claimed || this.log != null) {
			enter(command, Outcome.REJECTED,
					new Failure(RedisErrors.firstWord(error), (ran > 0)
							? error + " (" + ran + " of the record's " + parts + " parts ran nevertheless)" : error,
							false),
					claimed);
		}
		return true;
	}

	/**
	 * Lists the strings in a reply of which nobody knows whether Redis still has them;
	 * {@code false} if there are none.
	 */
	private boolean takenByDescribed(int command, int finding) {
		ReplyDecoder decoder = decoder(command, finding);
		Object value = decoder.next();
		if (value == null || decoder.strings() == 0) {
			return false;
		}
		this.account.taken().add(value, decoder.stringBytes() + largeNameBytes(command), decoder.largestString());
		ran(command, false, new Reply(value));
		return true;
	}

	private void popped(int command, int finding) {
		if (this.account.taken().areApart() && this.slab.replies().findings().isBulk(finding)) {
			poppedApart(command, finding);
			return;
		}
		ReplyDecoder decoder = decoder(command, finding);
		boolean nil = this.slab.replies().findings().kind(finding) == Kind.NIL;
		Object value = (nil) ? null : decoder.next();
		boolean noop = this.slab.commands().table().effect(command).isNoop(nil, List.of().equals(value));
		if (value instanceof List<?> values && !noop && values.get(values.size() - 1) == null) {
			// This is how a script says that it left the other values in Redis.
			this.account.taken().cutShort();
			value = values.subList(0, values.size() - 1);
		}
		if (value != null && !noop) {
			this.account.taken().add(value, decoder.stringBytes() + largeNameBytes(command), decoder.largestString());
			ran(command, false, new Reply(value));
		}
		else {
			boolean lists = this.account.wantsReplies() && claimItem(command, (noop) ? Outcome.NOOP : ran(), 0);
			ran(command, noop, (lists) ? new Reply(value) : null);
		}
	}

	/** The value goes to the list of values, and its item is for those who ask for it. */
	private void poppedApart(int command, int finding) {
		NotableReplies findings = this.slab.replies().findings();
		if (this.spans.length == 0) {
			this.spans = new int[2 * findings.count()];
		}
		this.spans[this.values++] = findings.bulkStart(finding);
		this.spans[this.values++] = findings.bulkEnd(finding);
		// The item has the value once more, as a string of two bytes a character at
		// worst.
		long bytes = 2L * (findings.bulkEnd(finding) - findings.bulkStart(finding));
		boolean lists = this.listsReplies && this.account.wantsReplies() && claimItem(command, ran(), bytes);
		ran(command, false, (lists) ? new Reply(decoder(command, finding).next()) : null);
	}

	private void enterValues() {
		if (this.values > 0) {
			this.account.taken()
				.addAll(this.slab.replies().findings().captured().bytes(), Arrays.copyOf(this.spans, this.values),
						new ReplyDecoder.EncodedValues(this.slab.commands().table().encoding(0)));
		}
	}

	/**
	 * How many bytes of a record's id and key count as taken out of Redis with its
	 * values: the item that carries the values is always listed, whatever its size.
	 */
	private long largeNameBytes(int command) {
		return Math.max(0, this.slab.commands().itemBytes(command) - SMALL_NAME_BYTES);
	}

	private ReplyDecoder decoder(int command, int finding) {
		return this.slab.replies().findings().decoder(finding, this.slab.commands().table().encoding(command));
	}

	/** Its own command was never sent, and can be sent later. */
	private void refusedInCommon(int command, int finding) {
		count(command, Outcome.UNPROCESSED);
		failed(Loss.NOT_SENT);
		boolean claimed = claimItem(command, Outcome.UNPROCESSED, this.slab.replies().findings().bytes(finding));
		if (claimed || this.log != null) {
			enter(command, Outcome.UNPROCESSED,
					new Failure(Loss.NOT_SENT,
							"Redis refused one command for this record and its neighbours ("
									+ this.slab.replies().findings().refusal(finding).message()
									+ "), and by itself it could not be sent any more:"
									+ " the job ended, or a later record of its key had run",
							true),
					claimed);
		}
	}

	private void refused(int command, int finding) {
		if (!this.slab.isAtomic() && this.errors.isOfOthers(finding)) {
			refusedInCommon(command, finding);
			return;
		}
		Loss earlier = this.slab.earlierLoss(command);
		Outcome outcome = (earlier != null) ? Outcome.UNKNOWN : Outcome.REJECTED;
		count(command, outcome);
		this.unconfirmedRecords += (Loss.isUnconfirmed(earlier)) ? 1 : 0;
		Refusal refusal = this.slab.replies().findings().refusal(finding);
		failed((earlier != null) ? earlier.code() : refusal.firstWord());
		boolean claimed = claimItem(command, outcome, this.slab.replies().findings().bytes(finding));
		if (claimed || this.log != null) {
			String message = message(command, refusal);
			boolean retryable = RedisErrors.means(refusal.firstWord(), Meaning.WORTH_POSTING_AGAIN);
			enter(command, outcome,
					(earlier != null) ? failure(earlier, "; sent again, Redis answered: " + message, retryable)
							: new Failure(refusal.firstWord(), message, retryable),
					claimed);
		}
	}

	/** The error in words about the command that the caller sent. */
	private String message(int command, Refusal refusal) {
		CommandTable table = this.slab.commands().table();
		boolean ownScript = table.operation(command) == Operation.HSET && table.sentAs(command) == Operation.EVALSHA
				&& refusal.isOfScripts();
		return (ownScript) ? "HSET with an expiry is one call of a script, for which the Redis user needs +evalsha and"
				+ " +script|load beside +hset, and +expire for 'ttl' or +pexpireat for 'expireAt'. Without these rights"
				+ " send HSET without an expiry, and a record of EXPIRE behind it. Redis answered: " + refusal.message()
				: refusal.message();
	}

	private void unanswered(int command) {
		Loss earlier = this.slab.earlierLoss(command);
		boolean unknown = this.slab.isUnknown();
		Outcome outcome = (unknown || earlier != null) ? Outcome.UNKNOWN : Outcome.UNPROCESSED;
		count(command, outcome);
		this.unconfirmedRecords += (Loss.isUnconfirmed(earlier)) ? 1 : 0;
		failed((earlier != null) ? earlier.code() : (unknown) ? this.loss.code() : Loss.NOT_SENT);
		boolean claimed = claimItem(command, outcome, this.loss.message().length());
		if (!claimed && this.log == null) {
			return;
		}
		Failure failure = NOT_SENT;
		if (earlier != null) {
			failure = failure(earlier, (unknown) ? "; sent again, it was lost again: " + this.loss.message()
					: "; the job ended before it was sent again", true);
		}
		else if (unknown) {
			failure = failure(this.loss, "", this.slab.commands().table().effect(command).isRepeatable());
		}
		if (this.log != null && outcome == Outcome.UNKNOWN) {
			this.log.unanswered(this.slab.commands().table().index(command), failure);
		}
		else {
			log(command, outcome, failure);
		}
		if (claimed) {
			list(command, outcome, failure, null);
		}
	}

	private void enter(int command, Outcome outcome, Failure failure, boolean listed) {
		log(command, outcome, failure);
		if (listed) {
			list(command, outcome, failure, null);
		}
	}

	private void log(int command, Outcome outcome, Failure failure) {
		if (this.log != null) {
			this.log.failed(this.slab.commands().table().index(command), outcome, failure);
		}
	}

	/** The failure of a command that may have run: its code says why nobody knows. */
	private static Failure failure(Loss loss, String then, boolean retryable) {
		return new Failure(loss.code(), loss.message() + then, retryable);
	}

	private boolean claimItem(int command, Outcome outcome, long bytes) {
		return this.account.claimItem(outcome, this.slab.commands().itemBytes(command) + bytes);
	}

	private void list(int command, Outcome outcome, @Nullable Failure failure, @Nullable Reply reply) {
		Commands commands = this.slab.commands();
		long line = commands.table().line(command);
		this.account.list(new Item(commands.table().index(command), (line > 0) ? line : null,
				commands.table().id(command), commands.table().operation(command).toString(), commands.key(command),
				outcome, failure, reply, null, null));
	}

	private void count(int command, Outcome outcome) {
		Operation operation = this.slab.commands().table().operation(command);
		if (operation != this.runOperation || outcome != this.runOutcome) {
			endRun();
			this.runOperation = operation;
			this.runOutcome = outcome;
		}
		this.run++;
	}

	private void failed(String code) {
		if (!code.equals(this.failedCode)) {
			endFailedRun();
			this.failedCode = code;
		}
		this.failedRun++;
	}

	private void endFailedRun() {
		this.account.errorCodes().add(this.failedCode, this.failedRun);
		this.failedRun = 0;
	}

	private void endRun() {
		if (this.runOperation != null && this.runOutcome != null) {
			this.account.count(this.runOperation.toString(), this.runOutcome, this.run);
			this.applied += (this.runOutcome == Outcome.APPLIED) ? this.run : 0;
		}
		this.run = 0;
	}

}
