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
 * Adds the outcomes of an attempt to the job's account. The operation's effect says what
 * its reply means. A command without a reply is unknown if it was written, else
 * unprocessed. A command that may have run at an earlier attempt stays unknown, unless
 * Redis has now answered that it ran.
 */
final class SlabOutcomes {

	private static final int[] NO_SPANS = new int[0];

	private static final int SMALL_NAME_BYTES = 256;

	/** Job journals compare the message, so it must not change. */
	private static final Failure NOT_SENT = new Failure(Loss.NOT_SENT, "The job ended before it was sent", true);

	private final Slab slab;

	private final SlabErrors errors;

	private final Account account;

	private final Loss loss;

	/** Why commands that ran count as unknown; {@code null} if they do not. */
	private final @Nullable Loss unconfirmed;

	private long unconfirmedRecords;

	private long applied;

	private long resent;

	/**
	 * The number of commands in a row with the same operation and outcome, counted
	 * together.
	 */
	private long runLength;

	private @Nullable Operation runOperation;

	private @Nullable Outcome runOutcome;

	/** The number of commands in a row with the same error code, counted together. */
	private long failureRun;

	private String failedCode = "";

	/**
	 * Start and end of each value that goes into the list of popped values, as indexes of
	 * the captured bytes.
	 */
	private int[] spans = NO_SPANS;

	private int values;

	private final @Nullable OutcomeLog log;

	/** Whether the report lists replies at all. Read once for the whole slab. */
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
		int notable = 0;
		Verification verification = this.slab.commands().verification();
		for (int command = 0; command < replies.count(); command++) {
			boolean found = notable < replies.notableReplies().count()
					&& replies.notableReplies().position(notable) == command;
			int answer = (found) ? notable++ : (replies.isDiscarded()) ? replies.notableReplies().count() - 1 : -1;
			if (this.slab.toResend().get(command)) {
				countResent(command, answer);
			}
			else if (verification != null) {
				countVerified(verification, command, answer);
			}
			else if (answer < 0) {
				countRun(command, false, null);
			}
			else {
				countAnswered(command, answer);
			}
		}
		for (int command = replies.count(); command < this.slab.count(); command++) {
			if (!this.slab.toResend().get(command)) {
				countUnanswered(command);
			}
		}
		endRun();
		endFailureRun();
		if (this.log != null) {
			this.log.flush();
		}
		enterValues();
		String refusal = this.errors.transactionRefusal();
		if (refusal != null) {
			this.account.setTransactionRefusal(refusal);
		}
		this.account.losses().ran(this.slab.attempt().failovers(), this.applied, this.unconfirmedRecords);
		this.account.sent(this.slab.attempt().sentCommands(), this.slab.attempt().bytes(),
				replies.count() - this.resent);
	}

	private void countResent(int command, int notable) {
		this.resent++;
		if (this.unconfirmed != null
				&& (notable < 0 || this.slab.replies().notableReplies().kind(notable) != Kind.ERROR)) {
			this.slab.addUnconfirmed(command, this.unconfirmed);
		}
	}

	/** The outcome of commands that ran and wrote something. */
	private Outcome ranOutcome() {
		return (this.unconfirmed != null) ? Outcome.UNKNOWN : Outcome.APPLIED;
	}

	/**
	 * Counts a command that ran, and lists its reply if there is one. Replicas have
	 * nothing to confirm for a no-op.
	 */
	private void countRun(int command, boolean noop, @Nullable Reply reply) {
		Outcome outcome = (noop) ? Outcome.NOOP : ranOutcome();
		count(command, outcome);
		Failure failure = null;
		if (this.unconfirmed != null && !noop) {
			this.unconfirmedRecords++;
			countFailure(this.unconfirmed.code());
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

	/**
	 * Counts a record that is compared with what Redis has. A reply that was too large to
	 * keep is that of other data.
	 */
	private void countVerified(Verification verification, int command, int notable) {
		NotableReplies replies = this.slab.replies().notableReplies();
		boolean error = notable >= 0 && replies.kind(notable) == Kind.ERROR;
		if (error && verification.compares(this.slab.commands(), command)
				&& !RedisErrors.isOfOtherData(replies.refusal(notable).message())) {
			countRefused(command, notable);
			return;
		}
		count(command, Outcome.UNPROCESSED);
		boolean readable = notable >= 0 && !error && replies.bytes(notable) > 0;
		verification.add(this.slab.commands(), command, (readable) ? replies.captured().bytes() : null,
				(readable) ? replies.start(notable) : 0);
	}

	private void countAnswered(int command, int notable) {
		Replies replies = this.slab.replies();
		Effect effect = this.slab.commands().table().effect(command);
		Kind kind = replies.notableReplies().kind(notable);
		if (kind == Kind.ERROR) {
			countRefused(command, notable);
			return;
		}
		if (effect.isPop()) {
			countPopped(command, notable);
			return;
		}
		if ((effect == Effect.PARTS || effect.isDescribed()) && countPartialRefusal(command, notable)) {
			return;
		}
		if (effect == Effect.DESCRIBED && countDescribedStrings(command, notable)) {
			return;
		}
		if (effect.tellsByParts() && countPartsNotRun(command, notable)) {
			return;
		}
		boolean noop = effect.isNoop(kind == Kind.NIL, effect.tellsByNumber()
				&& decoder(command, notable).next() instanceof Number number && number.longValue() <= 0);
		int bytes = replies.notableReplies().bytes(notable);
		boolean lists = bytes > 0 && this.account.wantsReplies()
				&& claimItem(command, (noop) ? Outcome.NOOP : ranOutcome(), bytes);
		countRun(command, noop, (lists) ? new Reply(decoder(command, notable).next()) : null);
	}

	/**
	 * Counts a command as rejected if Redis refused one of its parts. Returns {@code
	 * false} if Redis refused none.
	 */
	private boolean countPartialRefusal(int command, int notable) {
		ReplyDecoder decoder = decoder(command, notable);
		int parts = (decoder.next() instanceof List<?> list) ? list.size() : 1;
		String error = decoder.firstError();
		if (error == null) {
			return false;
		}
		int ran = parts - decoder.errors();
		if (ran > 0) {
			this.account.markRunInPart();
		}
		count(command, Outcome.REJECTED);
		countFailure(RedisErrors.firstWord(error));
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
	 * Counts a command of several parts, of which some did nothing, and lists its reply.
	 * Returns {@code false} if all of them ran.
	 */
	private boolean countPartsNotRun(int command, int notable) {
		Effect effect = this.slab.commands().table().effect(command);
		Object reply = decoder(command, notable).next();
		List<?> parts = (reply instanceof List<?> list) ? list : List.of();
		long idle = parts.stream().filter(effect::isIdlePart).count();
		if (idle == 0) {
			return false;
		}
		boolean noop = idle == parts.size();
		countRun(command, noop, null);
		long bytes = this.slab.commands().itemBytes(command) + this.slab.replies().notableReplies().bytes(notable);
		if ((noop) ? this.account.wantsReplies() && this.account.claimItem(Outcome.NOOP, bytes)
				: this.account.claimNotable(bytes)) {
			list(command, (noop) ? Outcome.NOOP : ranOutcome(), null, new Reply(reply),
					idle + " of the record's " + parts.size() + " parts did nothing");
		}
		return true;
	}

	/**
	 * Lists the strings of a reply, because they may no longer be in Redis. Returns
	 * {@code false} if there are none.
	 */
	private boolean countDescribedStrings(int command, int notable) {
		ReplyDecoder decoder = decoder(command, notable);
		Object value = decoder.next();
		if (value == null || decoder.strings() == 0) {
			return false;
		}
		this.account.taken().add(value, decoder.stringBytes() + largeNameBytes(command), decoder.largestString());
		countRun(command, false, new Reply(value));
		return true;
	}

	private void countPopped(int command, int notable) {
		if (this.account.taken().areSeparate() && this.slab.replies().notableReplies().isBulk(notable)) {
			countPoppedValue(command, notable);
			return;
		}
		ReplyDecoder decoder = decoder(command, notable);
		boolean nil = this.slab.replies().notableReplies().kind(notable) == Kind.NIL;
		Object value = (nil) ? null : decoder.next();
		boolean noop = this.slab.commands().table().effect(command).isNoop(nil, List.of().equals(value));
		if (value instanceof List<?> values && !noop && values.get(values.size() - 1) == null) {
			// A nil at the end says that the script left the other values in Redis.
			this.account.taken().cutShort();
			value = values.subList(0, values.size() - 1);
		}
		if (value != null && !noop) {
			this.account.taken().add(value, decoder.stringBytes() + largeNameBytes(command), decoder.largestString());
			countRun(command, false, new Reply(value));
		}
		else {
			boolean lists = this.account.wantsReplies() && claimItem(command, (noop) ? Outcome.NOOP : ranOutcome(), 0);
			countRun(command, noop, (lists) ? new Reply(value) : null);
		}
	}

	/**
	 * Adds the value to the list of popped values. An item shows the value again only if
	 * the report lists replies.
	 */
	private void countPoppedValue(int command, int notable) {
		NotableReplies notableReplies = this.slab.replies().notableReplies();
		if (this.spans.length == 0) {
			this.spans = new int[2 * notableReplies.count()];
		}
		this.spans[this.values++] = notableReplies.bulkStart(notable);
		this.spans[this.values++] = notableReplies.bulkEnd(notable);
		// In the item the value is a string, with at most two bytes a character.
		long bytes = 2L * (notableReplies.bulkEnd(notable) - notableReplies.bulkStart(notable));
		boolean lists = this.listsReplies && this.account.wantsReplies() && claimItem(command, ranOutcome(), bytes);
		countRun(command, false, (lists) ? new Reply(decoder(command, notable).next()) : null);
	}

	private void enterValues() {
		if (this.values > 0) {
			this.account.taken()
				.addAll(this.slab.replies().notableReplies().captured().bytes(), Arrays.copyOf(this.spans, this.values),
						new ReplyDecoder.EncodedValues(this.slab.commands().table().encoding(0)));
		}
	}

	/**
	 * How many bytes of a record's id and key count as bytes taken out of Redis. The item
	 * with the values is always listed, whatever its size.
	 */
	private long largeNameBytes(int command) {
		return Math.max(0, this.slab.commands().itemBytes(command) - SMALL_NAME_BYTES);
	}

	private ReplyDecoder decoder(int command, int notable) {
		return this.slab.replies().notableReplies().decoder(notable, this.slab.commands().table().encoding(command));
	}

	/**
	 * Counts a record as unprocessed because Redis refused its coalesced command. Its own
	 * command was never sent, so the caller can send it later.
	 */
	private void countCoalescedRefusal(int command, int notable) {
		count(command, Outcome.UNPROCESSED);
		countFailure(Loss.NOT_SENT);
		boolean claimed = claimItem(command, Outcome.UNPROCESSED, this.slab.replies().notableReplies().bytes(notable));
		if (claimed || this.log != null) {
			enter(command, Outcome.UNPROCESSED,
					new Failure(Loss.NOT_SENT,
							"Redis refused the command that this record shared with its neighbours ("
									+ this.slab.replies().notableReplies().refusal(notable).message()
									+ "). The record was not sent by itself, because"
									+ " the job had ended or a later record of its key had run",
							true),
					claimed);
		}
	}

	private void countRefused(int command, int notable) {
		if (!this.slab.isAtomic() && this.errors.isCoalescingError(notable)) {
			countCoalescedRefusal(command, notable);
			return;
		}
		Loss earlier = this.slab.earlierLoss(command);
		Outcome outcome = (earlier != null) ? Outcome.UNKNOWN : Outcome.REJECTED;
		count(command, outcome);
		this.unconfirmedRecords += (Loss.isUnconfirmed(earlier)) ? 1 : 0;
		Refusal refusal = this.slab.replies().notableReplies().refusal(notable);
		countFailure((earlier != null) ? earlier.code() : refusal.firstWord());
		boolean claimed = claimItem(command, outcome, this.slab.replies().notableReplies().bytes(notable));
		if (claimed || this.log != null) {
			String message = message(command, refusal);
			boolean retryable = RedisErrors.means(refusal.firstWord(), Meaning.WORTH_POSTING_AGAIN);
			enter(command, outcome,
					(earlier != null) ? failure(earlier, "; sent again, Redis answered: " + message, retryable)
							: new Failure(refusal.firstWord(), message, retryable),
					claimed);
		}
	}

	/** The error in terms of the command that the caller sent. */
	private String message(int command, Refusal refusal) {
		CommandTable table = this.slab.commands().table();
		boolean serviceScript = table.operation(command) == Operation.HSET && table.sentAs(command) == Operation.EVALSHA
				&& refusal.refusesScript();
		return (serviceScript)
				? "HSET with an expiry runs as a script. The Redis user needs +evalsha, +script|load and +hset, and"
						+ " +expire for 'ttl' or +pexpireat for 'expireAt'. Without these permissions,"
						+ " send HSET without an expiry, and then a record of EXPIRE. Redis answered: "
						+ refusal.message()
				: refusal.message();
	}

	private void countUnanswered(int command) {
		Loss earlier = this.slab.earlierLoss(command);
		boolean unknown = this.slab.attempt().isUnknown(command);
		Outcome outcome = (unknown || earlier != null) ? Outcome.UNKNOWN : Outcome.UNPROCESSED;
		count(command, outcome);
		this.unconfirmedRecords += (Loss.isUnconfirmed(earlier)) ? 1 : 0;
		countFailure((earlier != null) ? earlier.code() : (unknown) ? this.loss.code() : Loss.NOT_SENT);
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

	/**
	 * The failure of a command that may have run. The code says why its outcome is
	 * unknown.
	 */
	private static Failure failure(Loss loss, String then, boolean retryable) {
		return new Failure(loss.code(), loss.message() + then, retryable);
	}

	private boolean claimItem(int command, Outcome outcome, long bytes) {
		return this.account.claimItem(outcome, this.slab.commands().itemBytes(command) + bytes);
	}

	private void list(int command, Outcome outcome, @Nullable Failure failure, @Nullable Reply reply) {
		list(command, outcome, failure, reply, null);
	}

	private void list(int command, Outcome outcome, @Nullable Failure failure, @Nullable Reply reply,
			@Nullable String detail) {
		Commands commands = this.slab.commands();
		long line = commands.table().line(command);
		this.account.list(new Item(commands.table().index(command), (line > 0) ? line : null,
				commands.table().id(command), commands.table().operation(command).toString(), commands.key(command),
				outcome, failure, reply, detail, null, null));
	}

	private void count(int command, Outcome outcome) {
		Operation operation = this.slab.commands().table().operation(command);
		if (operation != this.runOperation || outcome != this.runOutcome) {
			endRun();
			this.runOperation = operation;
			this.runOutcome = outcome;
		}
		this.runLength++;
	}

	private void countFailure(String code) {
		if (!code.equals(this.failedCode)) {
			endFailureRun();
			this.failedCode = code;
		}
		this.failureRun++;
	}

	private void endFailureRun() {
		this.account.errorCodes().add(this.failedCode, this.failureRun);
		this.failureRun = 0;
	}

	private void endRun() {
		if (this.runOperation != null && this.runOutcome != null) {
			this.account.count(this.runOperation.toString(), this.runOutcome, this.runLength);
			this.applied += (this.runOutcome == Outcome.APPLIED) ? this.runLength : 0;
		}
		this.runLength = 0;
	}

}
