package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.DecoderException;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Item;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Item.Reply;
import io.pipeset.report.Outcome;
import io.pipeset.report.OutcomeLog;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The reply to a coalesced command gives the outcome of each of its records. */
class CoalescedRepliesTests {

	private static final Coalescing ALL = new Coalescing(true, true);

	private static final Coalescing EXPIRING = new Coalescing(true, true, true, true);

	private static final String OK = FilledSlabs.OK;

	private final FilledSlabs slabs = new FilledSlabs();

	private final Account account = new Account(Results.ALL, 100, false);

	@Test
	void tellTheOutcomeOfEachRecord() {
		Slab slab = answered(
				this.slabs.unlisted("SET a 1", "SET b 2", "LPUSH q a", "LPUSH q b", "SADD s a", "SADD s b"),
				OK + ":2\r\n:0\r\n");
		assertThat(slab.isAnswered()).isTrue();
		settle(slab);
		assertThat(this.account.counts()).isEqualTo(new Counts(6, 6, 0, 0, 0, 0));
		assertThat(this.account.commandsSent()).isEqualTo(3);
	}

	@Test
	void tellTheReplyToEachRecord() {
		settle(answered(this.slabs.slab("SET a 1", "SET b 2", "LPUSH q a", "LPUSH q b c", "LPUSH q d", "INCRBY n 5"),
				OK + ":14\r\n:5\r\n"));
		assertThat(replies()).containsExactly("OK", "OK", 11L, 13L, 14L, 5L);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			*3\\r\\n$1\\r\\na\\r\\n$1\\r\\nb\\r\\n$1\\r\\nc\\r\\n | 3 | 0
			*2\\r\\n$1\\r\\na\\r\\n$1\\r\\nb\\r\\n            | 2 | 1
			*0\\r\\n                                          | 0 | 3
			*-1\\r\\n                                         | 0 | 3
			_\\r\\n                                           | 0 | 3
			""")
	void giveEachPopItsValue(String reply, long applied, long noop) {
		Slab slab = this.slabs.unlisted("RPOP q", "RPOP q", "RPOP q", "SET a 1");
		Slab answered = answered(slab, reply.replace("\\r\\n", "\r\n") + OK);
		assertThat(answered.isAnswered()).isTrue();
		settle(answered);
		assertThat(this.account.counts()).isEqualTo(new Counts(4, applied + 1, noop, 0, 0, 0));
		List<@Nullable Object> values = new ArrayList<>(List.of("a", "b", "c").subList(0, (int) applied));
		values.addAll(Collections.nCopies((int) noop, null));
		assertThat(replies().subList(0, 3)).isEqualTo(values);
	}

	/** The replies are those of Redis with its module for time series. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					*2\\r\\n:1\\r\\n:2\\r\\n                         | APPLIED  |
					*2\\r\\n-ERR TSDB: no key\\r\\n-ERR TSDB: no key\\r\\n | REJECTED | ERR TSDB: no key
					*2\\r\\n:1\\r\\n-ERR TSDB: no key\\r\\n             | REJECTED | ERR TSDB: no key (1 of the record's 2 parts ran nevertheless)
					*2\\r\\n:1\\r\\n!8\\r\\nTSDB: no\\r\\n               | REJECTED | TSDB: no (1 of the record's 2 parts ran nevertheless)
					-WRONGTYPE no\\r\\n                             | REJECTED | WRONGTYPE no
					""")
	void areErrorsIfRedisRefusedAPart(String reply, Outcome outcome, @Nullable String message) {
		for (boolean all : new boolean[] { true, false }) {
			Account account = new Account(Results.ALL, 100, false);
			LoggedOutcomes log = new LoggedOutcomes();
			account.setLog(log);
			Slab slab = this.slabs.fill(new Slab(), false, all, "SET a 1", "TS.MADD t 1 5 u 2 6", "SET b 1");
			answered(slab, OK + reply.replace("\\r\\n", "\r\n") + OK);
			slab.settle(account, null);
			Item item = account.items().stream().filter((any) -> any.index() % 3 == 1).findFirst().orElseThrow();
			assertThat(item.status()).isEqualTo(outcome);
			assertThat((item.error() != null) ? item.error().message() : null).isEqualTo(message);
			assertThat(account.counts().applied()).isEqualTo((outcome == Outcome.APPLIED) ? 3 : 2);
			assertThat(account.hasRunInPart()).isEqualTo(message != null && message.contains("ran nevertheless"));
			assertThat(log.failures).hasSize(3);
			assertThat(log.failures.get(item.index())).isEqualTo(item.error());
		}
	}

	@Test
	void giveEachPopItsValueUntilALoss() {
		Slab slab = answered(this.slabs.unlisted("RPOP q", "RPOP q", "RPOP q"), "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\n");
		assertThat(slab.isAnswered()).isFalse();
		slab.attempt().end();
		settle(slab);
		assertThat(this.account.counts()).isEqualTo(new Counts(3, 2, 0, 0, 1, 0));
		assertThat(replies()).containsExactly("a", "b", null);
	}

	@Test
	void shareAnErrorThatEachRecordWouldHaveGot() {
		Slab slab = answered(this.slabs.unlisted("SADD k a", "SADD k b", "SET x 1"),
				"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n" + OK);
		assertThat(slab.errors().areInCommon()).isFalse();
		settle(slab);
		assertThat(this.account.counts()).isEqualTo(new Counts(3, 1, 0, 2, 0, 0));
		assertThat(this.account.items()).filteredOn((item) -> item.status() == Outcome.REJECTED)
			.extracting((item) -> item.error().code())
			.containsExactly("WRONGTYPE", "WRONGTYPE");
	}

	@ParameterizedTest
	@ValueSource(strings = { "NOPERM No permissions to access a key", "ERR unknown command 'MSET'",
			"CROSSSLOT Keys in request don't hash to the same slot" })
	void refusedForOneRecordAreSentAgainOneByOne(String error) {
		Slab slab = answered(this.slabs.unlisted("SET a 1", "SET b 2", "SET c 3 EX 5", "SET b 4", "SET d 5"),
				"-" + error + "\r\n" + OK + OK);
		assertThat(slab.errors().areInCommon()).isTrue();
		ResendRules.mark(List.of(slab), false, false);
		settle(slab);
		// The other record of b ran after the refused command.
		assertThat(this.account.counts()).isEqualTo(new Counts(4, 3, 0, 0, 0, 1));
		assertThat(slab.retry()).isTrue();
		assertThat(FilledSlabs.coalesced(slab, ALL)).isEqualTo("SET a 1");
		assertThat(slab.errors().areInCommon()).isFalse();
	}

	@Test
	void areOneReplyEachInsideATransaction() {
		Slab slab = this.slabs.transaction("SET a 1", "SET b 2", "RPOP q", "RPOP q", "RPOP q", "GEOADD g 1 2 m");
		slab.coalesce(ALL);
		String queued = FilledSlabs.QUEUED;
		FilledSlabs.written(slab, OK + queued + queued + queued + "*3\r\n" + OK + "*1\r\n$1\r\nx\r\n:1\r\n");
		assertThat(slab.isAnswered()).isTrue();
		settle(slab);
		assertThat(this.account.counts()).isEqualTo(new Counts(6, 4, 2, 0, 0, 0));
		assertThat(replies()).containsExactly("OK", "OK", "x", null, null, 1L);
		assertThat(this.account.commandsSent()).isEqualTo(3);
	}

	@Test
	void refusedInATransactionAreSentAgainAsAWhole() {
		Slab slab = this.slabs.transaction("SET a 1", "SET b 2", "LPUSH q a");
		slab.coalesce(ALL);
		FilledSlabs.written(slab, OK + "-NOPERM No permissions to access a key\r\n" + FilledSlabs.QUEUED
				+ "-EXECABORT Transaction discarded because of previous errors.\r\n");
		assertThat(slab.isAnswered()).isTrue();
		assertThat(slab.errors().areInCommon()).isTrue();
		ResendRules.mark(List.of(slab), false, false);
		settle(slab);
		assertThat(this.account.counts().received()).isZero();
		assertThat(slab.retry()).isTrue();
		assertThat(FilledSlabs.coalesced(slab, ALL)).isEqualTo("MULTI,SET a 1,SET b 2,LPUSH q a,EXEC");
	}

	@Test
	void areUnknownAsAWholeWithoutAReply() {
		Slab slab = answered(this.slabs.unlisted("SET a 1", "SET b 2", "LPUSH q a", "LPUSH q b"), OK);
		slab.attempt().end();
		ResendRules.mark(List.of(slab), true, true);
		settle(slab);
		assertThat(this.account.counts()).isEqualTo(new Counts(4, 2, 0, 0, 2, 0));
		assertThat(slab.retry()).isFalse();
	}

	@Test
	void refusedInATransactionThatRanAreNotSentAgain() {
		Slab slab = this.slabs.fill(new Slab(), true, false, "INCRBY n 1", "RPOP q", "PFADD p a", "PFADD p b");
		slab.coalesce(ALL);
		String queued = FilledSlabs.QUEUED;
		FilledSlabs.written(slab,
				OK + queued + queued + queued + "*3\r\n:1\r\n$1\r\nc\r\n-INVALIDOBJ Corrupted HLL object detected\r\n");
		assertThat(slab.errors().areInCommon()).isFalse();
		ResendRules.mark(List.of(slab), false, true);
		settle(slab);
		assertThat(this.account.counts()).isEqualTo(new Counts(4, 2, 0, 2, 0, 0));
		assertThat(slab.retry()).isFalse();
	}

	@Test
	void refusedAfterARefusedMultiAreNotSentAgain() {
		Slab slab = this.slabs.transaction("INCRBY n 1", "SET a 1", "SET b 2");
		slab.coalesce(ALL);
		FilledSlabs.written(slab, "-ERR unknown command 'MULTI'\r\n:1\r\n-ERR unknown command 'MSET'\r\n"
				+ "-ERR unknown command 'EXEC'\r\n");
		assertThat(slab.isAnswered()).isTrue();
		assertThat(slab.errors().areInCommon()).isFalse();
		ResendRules.mark(List.of(slab), false, true);
		settle(slab);
		assertThat(this.account.counts()).isEqualTo(new Counts(3, 1, 0, 2, 0, 0));
		assertThat(slab.retry()).isFalse();
	}

	@Test
	void refusedBeforeALossHaveNotRun() {
		Slab slab = answered(this.slabs.unlisted("SET a 1", "SET b 2", "INCRBY n 1"),
				"-ERR unknown command 'MSET'\r\n");
		slab.attempt().end();
		settle(slab);
		assertThat(this.account.counts()).isEqualTo(new Counts(3, 0, 0, 0, 1, 2));
		assertThat(this.account.items().get(0).error().code()).isEqualTo("NOT_SENT");
	}

	@ParameterizedTest
	@CsvSource({ "PFADD p a;PFADD p b, INVALIDOBJ Corrupted HLL object detected, true, true",
			"SET a 1;SET b 2, ERR unknown command 'MSET', false, true",
			"RPOP q;RPOP q, ERR wrong number of arguments, true, false" })
	void refusedAreNotAllowedAnyMoreUnlessTheDataIsTheReason(String records, String error, boolean severalKeys,
			boolean countedPops) {
		Slab slab = answered(this.slabs.unlisted(records.split(";", -1)), "-" + error + "\r\n");
		assertThat(slab.errors().areInCommon()).isTrue();
		assertThat(slab.errors().stillAllowed(ALL)).isEqualTo(new Coalescing(severalKeys, countedPops));
	}

	@Test
	void toMsetexAreGivenAsTheRepliesToEachSet() {
		for (boolean all : new boolean[] { true, false }) {
			Account account = new Account(Results.ALL, 100, false);
			Slab slab = this.slabs.fill(new Slab(), false, all, "SET a 1 EX 5", "SET b 2 EX 5", "SET c 3 EX 6",
					"INCRBY n 5");
			slab.coalesce(EXPIRING);
			FilledSlabs.written(slab, ":1\r\n" + OK + ":5\r\n").settle(account, null);
			assertThat(account.counts()).isEqualTo(new Counts(4, 4, 0, 0, 0, 0));
			assertThat(account.commandsSent()).isEqualTo(3);
			if (all) {
				assertThat(account.items()).extracting((item) -> item.reply().value())
					.containsExactly("OK", "OK", "OK", 5L);
			}
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "ERR unknown command 'MSETEX'", "NOPERM no msetex", "CROSSSLOT no" })
	void refusedByMsetexAreSentOneByOneAndMsetStaysAllowed(String error) {
		Slab slab = this.slabs.unlisted("SET a 1 EX 5", "SET b 2 EX 5", "SET c 3", "SET d 4", "SET a 5");
		slab.coalesce(EXPIRING);
		FilledSlabs.written(slab, "-" + error + "\r\n" + OK);
		assertThat(slab.errors().areInCommon()).isTrue();
		assertThat(slab.errors().stillAllowed(EXPIRING)).isEqualTo(ALL);
		ResendRules.mark(List.of(slab), false, false);
		settle(slab);
		// A later record of the key a ran already.
		assertThat(this.account.counts()).isEqualTo(new Counts(4, 3, 0, 0, 0, 1));
		assertThat(slab.retry()).isTrue();
		assertThat(FilledSlabs.commands(slab)).containsExactly("SET b 2 EX 5");
	}

	@Test
	void lostWithMsetexAreSentAgainOneByOne() {
		Slab slab = this.slabs.unlisted("SET a 1 EX 5", "SET b 2 EX 5");
		slab.coalesce(EXPIRING);
		FilledSlabs.written(slab, "").attempt().end();
		ResendRules.mark(List.of(slab), true, false);
		settle(slab);
		assertThat(slab.retry()).isTrue();
		slab.coalesce(EXPIRING);
		assertThat(FilledSlabs.commands(slab)).containsExactly("SET a 1 EX 5", "SET b 2 EX 5");
		FilledSlabs.written(slab, OK + OK);
		settle(slab);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(this.account.commandsSent()).isEqualTo(3);
	}

	@Test
	void refusedByTheServerAreTheErrorsOfEachRecord() {
		Slab slab = this.slabs.unlisted("SET a 1 EX 5", "SET b 2 EX 5");
		slab.coalesce(EXPIRING);
		FilledSlabs.written(slab, "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
		assertThat(slab.errors().areInCommon()).isFalse();
		settle(slab);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
		assertThat(this.account.items()).extracting((item) -> item.error().code()).containsExactly("OOM", "OOM");
	}

	@Test
	void countNilsOfResp2AsNoValues() {
		Account popped = new Account(Results.ERRORS, 10, true);
		Slab slab = this.slabs.unlisted("RPOP q", "RPOP q");
		FilledSlabs.written(slab, "$1\r\na\r\n$-1\r\n");
		slab.settle(popped, null);
		assertThat(popped.counts()).isEqualTo(new Counts(2, 1, 1, 0, 0, 0));
		assertThat(popped.values()).containsExactly("a");
	}

	@Test
	void ignoreAnAttributeBeforeAnArray() {
		settle(answered(this.slabs.unlisted("RPOP q", "RPOP q", "RPOP q"),
				"|1\r\n+k\r\n+v\r\n*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"));
		assertThat(replies()).containsExactly("a", "b", "c");
	}

	@ParameterizedTest
	@ValueSource(strings = { "$1\r\na\r\n", ":1\r\n", "+OK\r\n", "*4\r\n$1\r\na\r\n" })
	void refuseAReplyThatCannotAnswerPops(String reply) {
		assertThatExceptionOfType(DecoderException.class)
			.isThrownBy(() -> answered(this.slabs.unlisted("RPOP q", "RPOP q", "RPOP q"), reply));
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void areReadIfTheyAreCutAnywhere(int mode) {
		String body = ">2\r\n+inv\r\n$1\r\nk\r\n+OK\r\n*2\r\n|1\r\n+k\r\n+v\r\n$1\r\nx\r\n$4\r\na\r\nb\r\n:7\r\n_\r\n:1\r\n"
				+ "-WRONGTYPE no\r\n*2\r\n$0\r\n\r\n$2\r\nzz\r\n:1\r\n";
		String replies = switch (mode) {
			case 1 -> OK + FilledSlabs.QUEUED.repeat(8) + "*8\r\n" + body;
			case 2 -> "-NOPERM multi\r\n" + body + "-ERR EXEC without MULTI\r\n";
			default -> body;
		};
		List<String> whole = cut(mode > 0, replies, replies.length(), true);
		assertThat(whole).hasSize(15);
		for (int cut = 1; cut < replies.length(); cut++) {
			assertThat(cut(mode > 0, replies, cut, true)).as(replies.substring(0, cut)).isEqualTo(whole);
			List<String> lost = cut(mode > 0, replies, cut, false);
			for (int i = 0; i < whole.size(); i++) {
				assertThat(lost.get(i)).as("record %d of %s", i, replies.substring(0, cut))
					.isIn(whole.get(i), i + " UNKNOWN");
			}
		}
	}

	private static List<String> cut(boolean atomic, String replies, int cut, boolean goesOn) {
		Account account = new Account(Results.ALL, 100, false);
		Slab slab = new FilledSlabs().fill(new Slab(), atomic, true, "SET a 1", "SET b 2", "RPOP q", "RPOP q", "RPOP q",
				"LPUSH p a", "LPUSH p b c", "RPOP e", "RPOP e", "SADD s a", "RPOP w", "RPOP w", "RPOP q", "RPOP q",
				"INCRBY n 1");
		slab.coalesce(ALL);
		slab.attempt().writeTo(Unpooled.buffer());
		slab.attempt().read(Unpooled.copiedBuffer(replies.substring(0, cut), StandardCharsets.UTF_8));
		if (goesOn) {
			slab.attempt().read(Unpooled.copiedBuffer(replies.substring(cut), StandardCharsets.UTF_8));
			assertThat(slab.isAnswered()).isTrue();
		}
		slab.attempt().end();
		slab.settle(account, null);
		List<String> items = new ArrayList<>();
		for (Item item : account.items()) {
			String said = (item.reply() != null) ? " " + item.reply().value()
					: (item.status() == Outcome.REJECTED) ? " " + item.error().message() : "";
			items.add(item.index() + " " + item.status() + said);
		}
		return items;
	}

	private static Slab answered(Slab slab, String replies) {
		slab.coalesce(ALL);
		return FilledSlabs.written(slab, replies);
	}

	private void settle(Slab slab) {
		slab.settle(this.account, null);
	}

	private List<@Nullable Object> replies() {
		List<@Nullable Object> replies = new ArrayList<>();
		for (Item item : this.account.items()) {
			Reply reply = item.reply();
			replies.add((reply != null) ? reply.value() : null);
		}
		return replies;
	}

	/** The failures of records by their index; {@code null} for those that ran. */
	private static final class LoggedOutcomes implements OutcomeLog {

		private final Map<Long, @Nullable Failure> failures = new HashMap<>();

		@Override
		public void connected(String node, @Nullable Long clientId, @Nullable String runId) {
		}

		@Override
		public void sent(long index) {
		}

		@Override
		public void ran(long index, boolean noop) {
			this.failures.put(index, null);
		}

		@Override
		public void failed(long index, Outcome outcome, Failure failure) {
			this.failures.put(index, failure);
		}

		@Override
		public void flush() {
		}

	}

}
