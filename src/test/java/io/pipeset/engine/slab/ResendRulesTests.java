package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import io.netty.buffer.Unpooled;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordDefaults;
import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.memory.MemoryReservation;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.aggregator.ArgumentsAccessor;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The rules say which commands are sent again after a loss, and which never. */
class ResendRulesTests {

	private static final String OK = FilledSlabs.OK;

	private static final String BUSY = "-BUSY Redis is busy running a script.\r\n";

	private static final String WRONGTYPE = "-WRONGTYPE no\r\n";

	private static final Coalescing ALL = new Coalescing(true, true);

	private static final String NOSCRIPT = "-NOSCRIPT No matching script. Please use EVAL.\r\n";

	private static final String SHA = FilledSlabs.SHA;

	private final FilledSlabs slabs = new FilledSlabs();

	private final Account account = new Account(Results.ALL, 100, false);

	@Test
	void unansweredCommandsAreSentAgainIfARepeatDoesNoHarm() {
		Slab slab = written(slab("SET a 1", "SET b 2", "LPUSH l x", "SET c 3", "RPOP l"), OK);
		assertThat(again(true, slab)).containsExactly("SET b 2", "SET c 3");
		assertThat(counts()).isEqualTo(new Counts(3, 1, 0, 0, 2, 0));
	}

	@Test
	void unconfirmedCommandsAreSentAgainInOrderIfARepeatDoesNoHarm() {
		Slab slab = written(slab("SET a 1", "SET l 2", "LPUSH l x", "SET c 3", "SET d 4 NX"),
				OK + OK + ":1\r\n" + OK + "$-1\r\n");
		slab.attempt().unconfirmed(new Loss(Loss.UNCONFIRMED, "No replica has it"));
		assertThat(again(true, slab)).containsExactly("SET a 1", "SET c 3");
		assertThat(counts()).isEqualTo(new Counts(3, 0, 1, 0, 2, 0));
	}

	@Test
	void unconfirmedCommandsAreNotSentAgainWithoutALoss() {
		Slab slab = written(slab("SET a 1", "SET b 2"), OK + BUSY);
		slab.attempt().unconfirmed(new Loss(Loss.UNCONFIRMED, "No replica has it"));
		assertThat(again(false, slab)).containsExactly("SET b 2");
		assertThat(counts()).isEqualTo(new Counts(1, 0, 0, 0, 1, 0));
	}

	@Test
	void commandsThatADemotedMasterRefusedAreSentAgain() {
		String readOnly = "-READONLY You can't write against a read only replica.\r\n";
		Slab refused = written(slab("LPUSH l x", "SET a 1", "SET b 2", "LPUSH b y"), readOnly.repeat(3) + ":1\r\n");
		assertThat(refused.attempt().markIfDemoted()).isTrue();
		assertThat(again(true, refused)).containsExactly("LPUSH l x", "SET a 1");
		assertThat(written(slab("SET a 1"), OK).attempt().markIfDemoted()).isFalse();
		assertThat(again(true, written(slab("LPUSH l x", "SET a 1"), readOnly.repeat(2)))).isEmpty();
		assertThat(counts()).isEqualTo(new Counts(4, 1, 0, 3, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(strings = { "EXPIRE k 10", "PEXPIRE k 10", "EXPIREAT k 33177117420", "PEXPIREAT k 33177117420000",
			"HEXPIRE k 10 FIELDS 1 f" })
	void anExpiryIsNotSentAgainBeforeARecordThatMayHaveMadeItsKey(String expiry) {
		assertThat(again(true, written(slab(expiry, "HSET k f v"), ""))).containsExactly("HSET k f v");
		assertThat(again(true, written(slab(expiry, "HSET l f v"), ""))).containsExactly(expiry, "HSET l f v");
	}

	@ParameterizedTest
	@ValueSource(strings = { "COPY a b", "RENAME a b", "LMOVE a b LEFT LEFT", "SMOVE a b m", "MSETEX 2 a 1 b 2 NX",
			"JSON.MSET a $.x 1 b $.x 2", "TS.MADD a 1 2 b 3 4" })
	void noEarlierWriteToAKeyIsSentAgainIfALaterRecordMayHaveRun(String command) {
		assertThat(again(true, written(slab("SET a 1", "SET b 2", "SET c 3", command, "SET b 4"), "")))
			.containsExactly("SET c 3", "SET b 4");
	}

	@Test
	void aRecordOfSeveralKeysIsSentAgainInTheOrderOfEach() {
		assertThat(again(true, written(slab("SET a 1", "MSETEX 2 b 2 c 3 EX 10", "SET c 4"), ""))).hasSize(3);
		assertThat(again(true, written(slab("SET a 1", "MSETEX 2 b 2 c 3 EX 10", "APPEND c 4"), "")))
			.containsExactly("SET a 1");
	}

	@Test
	void commandsThatMayHaveRunAreNotSentAgainWithoutAFence() {
		Slab written = written(slab("SET a 1", "SET b 2"), OK);
		Slab unwritten = slab("SET c 3", "LPUSH l x");
		assertThat(again(false, written, unwritten)).containsExactly("SET c 3", "LPUSH l x");
		assertThat(counts()).isEqualTo(new Counts(2, 1, 0, 0, 1, 0));
	}

	@Test
	void unwrittenCommandsAreSent() {
		assertThat(again(true, slab("RPOP l", "SET a 1"), slab("LPUSH l x"))).containsExactly("RPOP l", "SET a 1",
				"LPUSH l x");
		assertThat(counts().received()).isZero();
	}

	@Test
	void nothingIsSentAgainAfterALaterCommandOfItsKeyThatMayHaveRun() {
		Slab slab = written(slab("DEL l", "DEL m", "DEL n l", "LPUSH l x", "DEL l"), "");
		assertThat(again(true, slab)).containsExactly("DEL m", "DEL l");
		assertThat(counts()).isEqualTo(new Counts(3, 0, 0, 0, 3, 0));
	}

	@Test
	void nothingIsSentAgainAfterALaterCommandOfItsKeyThatIsHeldBack() {
		// LPUSH is not sent again. So DEL a b is held back, and SET a 1 with it.
		Slab slab = written(slab("SET a 1", "DEL a b", "LPUSH b x"), "");
		assertThat(again(true, slab)).isEmpty();
		assertThat(counts()).isEqualTo(new Counts(3, 0, 0, 0, 3, 0));
	}

	@Test
	void aRemovalIsSentAgainAfterALaterRemovalButNotAfterAnotherCommand() {
		Slab first = written(slab("DEL a", "UNLINK b c", "DEL d", "DEL e"), BUSY.repeat(4));
		Slab second = written(slab("UNLINK a", "DEL b", "SET d 1", "DEL d", "SET e 1"),
				":1\r\n:1\r\n" + OK + ":1\r\n" + OK);
		assertThat(again(true, first, second)).containsExactly("DEL a", "UNLINK b c");
	}

	@Test
	void commandsOfOneKeyAreSentAgainInTheirOrderAcrossSlabs() {
		Slab first = written(slab("SET k 1", "SET k 2"), OK);
		Slab second = written(slab("SET k 3"), "");
		Slab third = slab("SET k 4");
		assertThat(again(true, first, second, third)).containsExactly("SET k 2", "SET k 3", "SET k 4");
	}

	@Test
	void anUnwrittenCommandIsNotSentAfterALaterWrittenOne() {
		assertThat(again(true, slab("SET a 1", "SET b 1", "SET c 1"), written(slab("SET a 2", "LPUSH b x"), OK)))
			.containsExactly("SET c 1");
		assertThat(counts()).isEqualTo(new Counts(4, 1, 0, 0, 1, 2));
	}

	@Test
	void commandsWithATransientErrorAreSentAgainEvenIfTheyMustRunOnlyOnce() {
		Slab slab = written(slab("LPUSH l x", "SET a 1", "RPOP q"), BUSY + BUSY + "$-1\r\n");
		assertThat(again(false, slab)).containsExactly("LPUSH l x", "SET a 1");
		assertThat(counts()).isEqualTo(new Counts(1, 0, 1, 0, 0, 0));
	}

	@Test
	void aTransientErrorIsARejectionIfALaterCommandOfItsKeyRan() {
		Slab first = written(slab("SET a 1", "SET b 1", "SET c 1"), BUSY + BUSY + BUSY);
		Slab second = written(slab("SET b 2", "SET d 2"), OK + "-WRONGTYPE no\r\n");
		assertThat(again(false, first, second)).containsExactly("SET a 1", "SET c 1");
		assertThat(counts()).isEqualTo(new Counts(3, 1, 0, 2, 0, 0));
		assertThat(this.account.items().get(0).error().code()).isEqualTo("BUSY");
	}

	@Test
	void anyOtherErrorIsFinal() {
		Slab slab = written(slab("SET a 1", "SET b 1"), "-OOM no\r\n-BUSYKEY no\r\n");
		assertThat(again(true, slab)).isEmpty();
		assertThat(counts()).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
	}

	@Test
	void nothingIsSentAgainAfterAScriptWithoutKeysThatRan() {
		Slab slab = written(slab("SET a 1", "EVALSHA " + SHA + " 0", "SET b 1"),
				"$1\r\nx\r\n" + BUSY + ":1\r\n" + BUSY);
		assertThat(again(false, slab)).containsExactly("SCRIPT LOAD return 1", "SET b 1");
		assertThat(counts()).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
	}

	@Test
	void theReplyToScriptLoadIsNotTheReplyToTheScript() {
		Slab slab = written(slab("SET a 1", "EVALSHA " + SHA + " 1 a", "SET b 1"),
				"-NOPERM no SCRIPT LOAD\r\n" + OK + "*1\r\n$-1\r\n-ERR no\r\n");
		assertThat(again(true, slab)).isEmpty();
		assertThat(counts()).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		assertThat(this.account.items()).extracting((item) -> item.op()).containsExactly("SET", "EVALSHA", "SET");
	}

	@Test
	void aScriptThatReturnsBusyHasRun() {
		Slab slab = written(slab("SET a 1", "EVALSHA " + SHA + " 1 a", "EVALSHA " + SHA + " 1 b"),
				"$1\r\nx\r\n" + BUSY + "-BUSY lock is held\r\n" + BUSY);
		assertThat(again(true, slab)).containsExactly("SCRIPT LOAD return 1", "EVALSHA " + SHA + " 1 b");
		assertThat(counts()).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
	}

	@Test
	void aHashThatExpiresIsSentAgainAsAWhole() {
		Slab slab = this.slabs.slab();
		addExpiring(slab, "k0");
		addExpiring(slab, "k1");
		assertThat(again(true, written(slab, "$1\r\nx\r\n:1\r\n"))).last()
			.asString()
			.matches("EVALSHA [0-9a-f]{40} 1 k1 60 f v");
		assertThat(slab.commands().key(0)).isEqualTo("azE=");
		assertThat(slab.commands().table().operation(0)).isEqualTo(Operation.HSET);
	}

	@Test
	void aRecordKeepsItsIndexWhenItIsSentAgain() {
		Slab slab = written(slab("SET a 1", "LPUSH l x", "SET b 2", "SET c 3"), OK);
		again(true, slab);
		assertThat(slab.commands().table().index(0)).isEqualTo(2);
		assertThat(slab.commands().table().index(1)).isEqualTo(3);
		assertThat(slab.commands().table().id(1)).isEqualTo("id-3");
		Slab answered = written(slab, OK + "-ERR no\r\n");
		answered.settle(this.account, null);
		assertThat(this.account.items())
			.filteredOn((item) -> item.error() != null && item.error().message().endsWith("ERR no"))
			.singleElement()
			.satisfies((item) -> {
				assertThat(item.index()).isEqualTo(3);
				assertThat(item.id()).isEqualTo("id-3");
				assertThat(item.key()).isEqualTo("c");
			});
		assertThat(counts()).isEqualTo(new Counts(4, 2, 0, 0, 2, 0));
	}

	@Test
	void anErrorWithinATransactionThatRanIsFinal() {
		Slab ran = written(transaction("SET a 1", "EVALSHA " + SHA + " 1 b"),
				"$1\r\nx\r\n" + OK + "+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n" + NOSCRIPT);
		assertThat(ran.errors().transientCode()).isNull();
		assertThat(again(false, ran)).isEmpty();
		assertThat(counts()).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
	}

	@Test
	void aRefusedCommandIsSentAgainAfterAnEarlierOneOfItsKeyIs() {
		Slab first = written(slab("DEL a", "SET x 1"), BUSY + OK);
		Slab second = written(slab("HSET a f v", "HSET x f v"), WRONGTYPE + WRONGTYPE);
		Slab third = written(slab("DEL b a", "SADD y 1"), "-NOPERM no\r\n" + WRONGTYPE);
		Slab fourth = written(slab("LPUSH b x", "SADD b 1"), WRONGTYPE + WRONGTYPE);
		assertThat(again(false, first, second, third, fourth)).containsExactly("DEL a", "HSET a f v", "DEL b a",
				"LPUSH b x", "SADD b 1");
		assertThat(counts()).isEqualTo(new Counts(3, 1, 0, 2, 0, 0));
	}

	@Test
	void aRefusedCommandAndEarlierOnesStayIfALaterCommandOfTheKeyRan() {
		Slab slab = written(slab("DEL a", "DEL c", "DEL a b", "SET b 1", "HSET a f v"),
				BUSY + BUSY + "-NOPERM no\r\n" + OK + WRONGTYPE);
		assertThat(again(false, slab)).containsExactly("DEL c");
		assertThat(counts()).isEqualTo(new Counts(4, 1, 0, 3, 0, 0));
	}

	@Test
	void noRemovalChangesOrderAroundARefusedCommand() {
		Slab slab = written(slab("DEL a", "HSET a f v", "DEL a", "DEL b", "DEL b"),
				BUSY + WRONGTYPE + ":1\r\n" + BUSY + ":1\r\n");
		assertThat(again(false, slab)).containsExactly("DEL b");
		assertThat(counts()).isEqualTo(new Counts(4, 2, 0, 2, 0, 0));
	}

	@Test
	void aTransientErrorThatIsFinalIsSentAgainAfterAnEarlierCommandOfItsKeyIs() {
		Slab slab = this.slabs.unlisted("DEL a", "DEL b", "HSET a f v", "HSET c f v");
		FilledSlabs.coalesced(slab, ALL);
		read(slab, "-NOPERM no\r\n" + BUSY + BUSY);
		ResendRules.mark(List.of(slab), false, false);
		slab.settle(this.account, null);
		slab.retry();
		assertThat(FilledSlabs.commands(slab)).containsExactly("DEL a", "DEL b", "HSET a f v");
		assertThat(counts()).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
	}

	@Test
	void anExpireWithATransientErrorIsNotSentAgainAfterARecordThatMayHaveMadeItsKey() {
		Slab first = written(slab("EXPIRE a 60", "EXPIRE b 60", "EXPIRE c 60"), BUSY + BUSY + BUSY);
		Slab second = written(slab("HSET c f v", "HSET a f v"), ":1\r\n");
		assertThat(again(true, first, second)).containsExactly("EXPIRE b 60", "HSET a f v");
		assertThat(counts()).isEqualTo(new Counts(3, 1, 0, 2, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(strings = { "HDEL a f", "HSETEX a EX 0 FIELDS 1 f w" })
	void anExpiringHashIsNotSentAgainIfItMayHaveBeenEmptiedAndMadeAgain(String emptying) {
		Slab slab = this.slabs.slab();
		for (String key : List.of("a", "b", "c")) {
			addExpiring(slab, key);
		}
		this.slabs.add(slab, emptying, "HSET a g v", "HSET b g v", emptying.replace(" a ", " b "), "HSET d f v",
				emptying.replace(" a ", " c "));
		assertThat(again(true, written(slab, "$1\r\nx\r\n")).stream()
			.map((sent) -> sent.replaceAll("[0-9a-f]{40}", "sha")))
			.containsSubsequence("EVALSHA sha 1 b 60 f v", "EVALSHA sha 1 c 60 f v", emptying, "HSET a g v",
					"HSET b g v", emptying.replace(" a ", " b "), "HSET d f v", emptying.replace(" a ", " c "))
			.doesNotContain("EVALSHA sha 1 a 60 f v");
		assertThat(counts()).isEqualTo(new Counts(1, 0, 0, 0, 1, 0));
	}

	/**
	 * The rules for two commands of one key. E: the earlier one is sent again. L: the
	 * later one is.
	 */
	@ParameterizedTest
	@CsvSource(useHeadersInDisplayName = true, textBlock = """
			earlier,        ANSWERED, REFUSED, TRANSIENT, TRANSIENT_ONCE, REDIRECTED, COALESCED, LOST, LOST_ONCE, UNSENT
			ANSWERED,       -,        -,       L,         L,              L,          L,         L,    -,         L
			REFUSED,        -,        -,       L,         L,              L,          L,         L,    -,         L
			TRANSIENT,      -,        EL,      EL,        EL,             EL,         EL,        EL,   -,         EL
			TRANSIENT_ONCE, -,        EL,      EL,        EL,             EL,         EL,        L,    -,         EL
			REDIRECTED,     -,        EL,      EL,        EL,             EL,         EL,        L,    -,         EL
			COALESCED,      -,        EL,      EL,        EL,             EL,         EL,        EL,   -,         EL
			LOST,           -,        EL,      EL,        EL,             EL,         EL,        EL,   -,         EL
			LOST_ONCE,      -,        -,       L,         L,              L,          L,         L,    -,         L
			UNSENT,         -,        EL,      EL,        EL,             EL,         EL,        L,    -,         EL
			""")
	void twoCommandsOfAKeyAreSentAgainAsTheTableSays(ArgumentsAccessor row) {
		Verdict earlier = Verdict.valueOf(row.getString(0));
		for (int column = 0; column < Verdict.values().length; column++) {
			Verdict later = Verdict.values()[column];
			List<Slab> sent = List.of(earlier.slab(this.slabs), later.slab(this.slabs));
			ResendRules.mark(sent, true, true, (slab, redirect, byScript) -> true);
			String resent = ((sent.get(0).toResend().get(0)) ? "E" : "") + ((sent.get(1).toResend().get(0)) ? "L" : "");
			assertThat((resent.isEmpty()) ? "-" : resent).as("%s, then %s", earlier, later)
				.isEqualTo(row.getString(1 + column));
		}
	}

	/** The state of two commands after an attempt. The first command has the key "a". */
	private enum Verdict {

		ANSWERED("SET a 1", "SET n 1", OK + OK), REFUSED("SADD a 1", "SET n 1", WRONGTYPE + OK),
		TRANSIENT("SADD a 1", "SET n 1", BUSY + OK), TRANSIENT_ONCE("LPUSH a 1", "SET n 1", BUSY + OK),
		REDIRECTED("LPUSH a 1", "SET n 1", "-MOVED 15495 h:1\r\n" + OK),
		COALESCED("SET a 1", "SET n 1", "-NOPERM no\r\n"), LOST("SET a 1", "LPUSH n 1", ""),
		LOST_ONCE("LPUSH a 1", "SET n 1", ""), UNSENT("LPUSH a 1", "SET n 1", null);

		private final String command;

		private final String neighbour;

		private final @Nullable String replies;

		Verdict(String command, String neighbour, @Nullable String replies) {
			this.command = command;
			this.neighbour = neighbour;
			this.replies = replies;
		}

		Slab slab(FilledSlabs slabs) {
			Slab slab = slabs.unlisted(this.command, this.neighbour);
			if (this == COALESCED) {
				FilledSlabs.coalesced(slab, ALL);
				read(slab, String.valueOf(this.replies));
			}
			else if (this.replies != null) {
				written(slab, this.replies);
			}
			return slab;
		}

	}

	/** Adds an HSET of one field with a time to live. */
	private static void addExpiring(Slab slab, String key) {
		Record expiring = new Record(new RecordDefaults(60L, null, null, 0, Encoding.BASE64),
				MemoryReservation.UNLIMITED);
		expiring.begin(0);
		expiring.operation(Operation.HSET);
		for (String word : List.of(key, "f", "v")) {
			byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
			expiring.argument(bytes, 0, bytes.length);
		}
		expiring.check();
		assertThat(slab.add(expiring)).isTrue();
	}

	/** The commands that slabs would send again, in their order. */
	private List<String> again(boolean resendUnknown, Slab... slabs) {
		ResendRules.mark(Arrays.asList(slabs), resendUnknown, true);
		List<String> again = new ArrayList<>();
		for (Slab slab : slabs) {
			slab.settle(this.account, new Loss(Loss.CONNECTION_LOST, "gone"));
			boolean any = slab.retry();
			assertThat(any).isEqualTo(slab.count() > 0);
			assertThat(slab.isWritten()).isFalse();
			if (any) {
				again.addAll(FilledSlabs.commands(slab));
			}
		}
		return again;
	}

	private Counts counts() {
		return this.account.counts();
	}

	private static void read(Slab slab, String replies) {
		slab.attempt().read(Unpooled.copiedBuffer(replies, StandardCharsets.UTF_8));
	}

	private static Slab written(Slab slab, String replies) {
		return FilledSlabs.written(slab, replies);
	}

	private Slab slab(String... commands) {
		return this.slabs.slab(commands);
	}

	private Slab transaction(String... commands) {
		return this.slabs.transaction(commands);
	}

	@Nested
	class AScript {

		@Test
		void thatRedisHasForgottenIsLoadedAndRunAgainIfItsTextIsKnown() {
			assertThat(again(false, written(slab("EVALSHA " + SHA + " 1 a"), "$1\r\nx\r\n" + NOSCRIPT)))
				.containsExactly("SCRIPT LOAD return 1", "EVALSHA " + SHA + " 1 a");
			assertThat(again(false, written(slab("EVALSHA " + "0".repeat(40) + " 1 a"), NOSCRIPT))).isEmpty();
			assertThat(counts()).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		}

		@Test
		void withoutAKnownTextIsNotSentAgain() {
			Slab slab = written(slab("EVALSHA " + SHA + " 1 a", "EVALSHA " + "0".repeat(40) + " 1 b", "SET c 1"),
					"$1\r\nx\r\n:1\r\n" + NOSCRIPT + OK);
			assertThat(slab.errors().transientCode()).isNull();
			assertThat(again(false, slab)).isEmpty();
			assertThat(counts()).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		}

		@Test
		void thatMayNotBeLoadedIsNotSentAgain() {
			assertThat(again(false, written(slab("EVALSHA " + SHA + " 1 a"), "-NOPERM no SCRIPT LOAD\r\n" + NOSCRIPT)))
				.isEmpty();
			assertThat(again(false, written(slab("EVALSHA " + SHA + " 1 a"), BUSY + NOSCRIPT))).hasSize(2);
			assertThat(counts()).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		}

		@Test
		void isKnownByItsShaInUpperOrLowerCase() {
			Slab slab = slab("EVALSHA " + SHA + " 1 a", "EVALSHA " + SHA.toUpperCase(Locale.ROOT) + " 1 b");
			assertThat(again(false, written(slab, "$1\r\nx\r\n" + NOSCRIPT + NOSCRIPT))).hasSize(3);
		}

		@Test
		void withoutKeysIsNotSentAgainAfterAnyCommandThatRan() {
			Slab slab = written(slab("EVALSHA " + SHA + " 0", "SET a 1", "EVALSHA " + SHA + " 0"),
					"$1\r\nx\r\n" + BUSY + OK + BUSY);
			assertThat(again(false, slab)).containsExactly("SCRIPT LOAD return 1", "EVALSHA " + SHA + " 0");
			assertThat(slab.firstIndex()).isEqualTo(2);
			assertThat(counts()).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		}

		@Test
		void withoutKeysIsSentAgainWithAllLaterRefusedCommands() {
			Slab slab = written(slab("HSET a f v", "EVALSHA " + SHA + " 0", "HSET b f v"),
					"$1\r\nx\r\n" + WRONGTYPE + BUSY + WRONGTYPE);
			assertThat(again(false, slab)).containsExactly("SCRIPT LOAD return 1", "EVALSHA " + SHA + " 0",
					"HSET b f v");
		}

		@Test
		void thatFailedMayHaveWrittenSoNoEarlierCommandIsSentAgain() {
			Slab slab = written(slab("DEL a", "EVALSHA " + SHA + " 1 a"), "$1\r\nx\r\n" + BUSY + WRONGTYPE);
			assertThat(again(false, slab)).isEmpty();
			assertThat(counts()).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
		}

	}

	@Nested
	class ATransaction {

		@Test
		void isSentAgainAsAWholeIfARepeatDoesNoHarm() {
			String queued = OK + "+QUEUED\r\n+QUEUED\r\n";
			for (String replies : List.of("", OK, queued, queued + "*2\r\n+OK\r\n")) {
				assertThat(again(true, written(transaction("SET a 1", "SET b 2"), replies))).as(replies)
					.containsExactly("MULTI", "SET a 1", "SET b 2", "EXEC");
			}
			assertThat(counts().received()).isZero();
		}

		@Test
		void isNotSentAgainIfOneOfItsCommandsMustRunOnlyOnce() {
			String queued = OK + "+QUEUED\r\n+QUEUED\r\n";
			assertThat(again(true, written(transaction("SET a 1", "LPUSH b 2"), queued + "*2\r\n+OK\r\n"),
					written(transaction("SET c 1", "SET a 2"), "")))
				.containsExactly("MULTI", "SET c 1", "SET a 2", "EXEC");
			assertThat(counts()).isEqualTo(new Counts(2, 1, 0, 0, 1, 0));
		}

		@Test
		void isNotSentAgainAfterALaterOneThatSharesAKey() {
			assertThat(again(true, written(transaction("SET a 1", "SET b 2"), ""),
					written(transaction("SET c 1", "LPUSH b 2"), "")))
				.isEmpty();
			assertThat(counts()).isEqualTo(new Counts(4, 0, 0, 0, 4, 0));
		}

		@Test
		void thatWasDiscardedForATransientErrorIsSentAgain() {
			String discarded = "-EXECABORT Transaction discarded because of previous errors.\r\n";
			Slab busy = written(transaction("LPUSH a 1", "LPUSH b 2"), OK + BUSY + "+QUEUED\r\n" + discarded);
			assertThat(busy.errors().transientCode()).isEqualTo("BUSY");
			assertThat(again(false, busy)).containsExactly("MULTI", "LPUSH a 1", "LPUSH b 2", "EXEC");
			Slab refused = written(transaction("LPUSH a 1", "LPUSH b 2"), OK + BUSY + "-NOPERM no\r\n" + discarded);
			assertThat(refused.errors().transientCode()).isNull();
			assertThat(again(false, refused)).isEmpty();
			assertThat(counts()).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
		}

		@Test
		void thatWasRefusedIsSentAgainAfterAnEarlierOneOfItsKeyIs() {
			String discarded = "-EXECABORT Transaction discarded because of previous errors.\r\n";
			Slab busy = written(transaction("DEL a", "SET b 2"), OK + BUSY + "+QUEUED\r\n" + discarded);
			Slab refused = written(transaction("SET c 1", "SET a 2"), OK + "+QUEUED\r\n-NOPERM no\r\n" + discarded);
			Slab other = written(transaction("SET d 1", "SET e 2"), OK + "+QUEUED\r\n-NOPERM no\r\n" + discarded);
			assertThat(again(false, busy, refused, other)).containsExactly("MULTI", "DEL a", "SET b 2", "EXEC", "MULTI",
					"SET c 1", "SET a 2", "EXEC");
			assertThat(counts()).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
		}

	}

	@Nested
	class ACommandThatMustRunOnlyOnce {

		/** It would take, count or copy the later one's data. */
		@ParameterizedTest
		@ValueSource(strings = { "RPOP k", "INCRBY k 1", "SET k v GET", "RENAME k d", "COPY d k", "SMOVE s k m",
				"EVALSHA sha 1 k", "EVALSHA sha 0" })
		void isNotSentAgainBeforeALaterOneThatMayHaveRun(String command) {
			String once = command.replace("sha", SHA);
			String loaded = (once.startsWith("EVALSHA")) ? "$1\r\nx\r\n" : "";
			assertThat(again(true, written(slab(once, "DEL k"), loaded + BUSY))).endsWith("DEL k").doesNotContain(once);
			assertThat(again(true, written(slab(once), loaded + BUSY), written(transaction("SET j 1", "SET k 2"), "")))
				.endsWith("MULTI", "SET j 1", "SET k 2", "EXEC")
				.doesNotContain(once);
			assertThat(counts()).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
			assertThat(ResendRulesTests.this.account.items()).allMatch((item) -> item.error().code().equals("BUSY"));
		}

		@Test
		void thatWasRefusedStaysRefusedWithAllEarlierOnesOfItsKey() {
			Slab slab = written(slab("HSET k f 1", "HSET j f 1", "RENAME k d", "HSET k g 2"),
					BUSY + BUSY + "-ERR no such key\r\n");
			assertThat(again(true, slab)).containsExactly("HSET j f 1", "HSET k g 2");
			assertThat(counts()).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
		}

		@Test
		void isNotSentAgainBeforeALaterOneThatMayHaveRunAtAnEarlierAttempt() {
			Slab first = written(slab("SET k 1"), BUSY);
			Slab lost = written(slab("SET k 2"), "");
			assertThat(again(true, first, lost)).containsExactly("SET k 1", "SET k 2");
			assertThat(again(true, written(slab("INCRBY k 1"), BUSY), written(lost, BUSY))).containsExactly("SET k 2");
		}

	}

}
