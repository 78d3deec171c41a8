package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.pipeset.engine.slab.Redirect.Kind;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Results;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Redirected commands are sent again, in order, and some of them after an ASKING. */
class RedirectTests {

	private static final String OK = FilledSlabs.OK;

	/** The slot of the key "a". */
	private static final String MOVED = "-MOVED 15495 h:1\r\n";

	private static final String ASK = "-ASK 15495 h:1\r\n";

	private final FilledSlabs slabs = new FilledSlabs();

	private final Account account = new Account(Results.ERRORS, 100, false);

	@ParameterizedTest
	@CsvSource(nullValues = "none",
			value = { "MOVED 15495 127.0.0.1:7001, MOVED", "MOVED 15495 :7001, MOVED", "ASK 15495 ::1:7001, ASK",
					"TRYAGAIN Multiple keys request during rehashing of slot, TRYAGAIN",
					"CLUSTERDOWN The cluster is down, WAIT", "CLUSTERDOWN Hash slot not served, WAIT",
					"LOADING Redis is loading the dataset in memory, WAIT",
					"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'., WAIT",
					"MOVED 7 h:1, none", "MOVED, none", "MOVED 15495, none", "MOVED 15495 h:1 more, none",
					"MOVED x h:1, none", "ERR MOVED 15495 h:1, none", "WRONGTYPE Operation, none", "LOADING, none" })
	void anErrorIsARedirectionOnlyWithRedissOwnText(String error, Kind kind) {
		Slab slab = FilledSlabs.written(this.slabs.slab("SET a 1"), "-" + error + "\r\n");
		assertThat(slab.errors().areRedirected()).isEqualTo(kind != null);
		Redirect redirect = slab.errors().redirect(0);
		assertThat((redirect != null) ? redirect.kind() : null).isEqualTo(kind);
	}

	@Test
	void redirectedCommandsAreSentAgainAndTheOthersAreSettled() {
		Slab slab = FilledSlabs.written(this.slabs.slab("RPUSH a 1", "RPUSH b 1", "RPUSH a 2"),
				MOVED + ":1\r\n" + MOVED);
		mark(slab);
		assertThat(slab.slots().firstRedirect()).isEqualTo(new Redirect(Kind.MOVED, 15495, "h:1"));
		settle(slab, true);
		assertThat(FilledSlabs.commands(slab)).containsExactly("RPUSH a 1", "RPUSH a 2");
		assertThat(this.account.counts()).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
	}

	@Test
	void aRedirectedCommandIsRejectedIfALaterOneOfItsKeyRan() {
		Slab slab = FilledSlabs.written(this.slabs.slab("RPUSH a 1", "RPUSH a 2"), MOVED + ":1\r\n");
		mark(slab);
		settle(slab, false);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(this.account.items().get(0).error().code()).isEqualTo("MOVED");
	}

	@Test
	void aRedirectionThatIsNotFollowedIsARejection() {
		Slab slab = FilledSlabs.written(this.slabs.slab("RPUSH a 1"), MOVED);
		ResendRules.mark(List.of(slab), true, true, (any, redirect, byScript) -> false);
		settle(slab, false);
		assertThat(this.account.counts()).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
	}

	@Test
	void aScriptMayMakeUpARedirection() {
		Slab slab = FilledSlabs.written(this.slabs.slab("EVALSHA " + FilledSlabs.SHA + " 1 a", "SET b 1"),
				"+sha\r\n" + MOVED + OK);
		List<Boolean> scripts = new ArrayList<>();
		ResendRules.mark(List.of(slab), true, true, (any, redirect, byScript) -> !scripts.add(byScript));
		assertThat(scripts).containsExactly(true);
		settle(slab, false);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 7, 1000 })
	void aCommandIsSentAloneAfterAnAsking(int pieces) {
		Slab slab = FilledSlabs.written(this.slabs.slab("SET b 0", "SET a 1", "SET a 2", "SET c 3"),
				OK + ASK + ASK + OK);
		mark(slab);
		settle(slab, true);
		slab.attempt().sendAlone(true);
		assertThat(write(slab)).containsExactly("ASKING", "SET a 1");
		assertThat(slab.attempt().isPartial()).isTrue();
		read(slab, OK + OK, pieces);
		assertThat(slab.isAnswered()).isTrue();
		assertThat(slab.attempt().sentCommands()).isOne();
		mark(slab);
		settle(slab, true);
		assertThat(this.account.counts()).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		slab.attempt().sendAlone(false);
		assertThat(write(slab)).containsExactly("SET a 2");
		assertThat(slab.attempt().isPartial()).isFalse();
		read(slab, OK, pieces);
		settle(slab, false);
		assertThat(this.account.counts()).isEqualTo(new Counts(4, 4, 0, 0, 0, 0));
	}

	@Test
	void anAttemptAloneHoldsOnlyOnce() {
		Slab slab = FilledSlabs.written(this.slabs.slab("SET a 1", "SET a 2"), ASK + ASK);
		mark(slab);
		settle(slab, true);
		slab.attempt().sendAlone(true);
		assertThat(write(slab)).containsExactly("ASKING", "SET a 1");
		read(slab, OK + ASK, 1000);
		mark(slab);
		settle(slab, true);
		assertThat(write(slab)).containsExactly("SET a 1", "SET a 2");
	}

	@Test
	void theCommandsThatWereLeftOutHaveNotRun() {
		Slab slab = FilledSlabs.written(this.slabs.slab("LPUSH a 1", "LPUSH b 2"), ASK + ASK.replace("15495", "3300"));
		mark(slab);
		settle(slab, true);
		slab.attempt().sendAlone(true);
		write(slab);
		// The connection ends after the reply to ASKING.
		read(slab, OK, 1000);
		assertThat(slab.isAnswered()).isFalse();
		assertThat(slab.slots().unknown()).isEqualTo(BitSet.valueOf(bits(15495)));
		ResendRules.mark(List.of(slab), false, false);
		settle(slab, true);
		assertThat(FilledSlabs.commands(slab)).containsExactly("LPUSH b 2");
		settle(slab, false);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 0, 1, 1));
	}

	@Test
	void theErrorToAskingIsReportedAndIsNotTheReplyToItsCommand() {
		String refused = "-NOPERM this user has no permissions to run the 'asking' command\r\n";
		Slab single = FilledSlabs.written(this.slabs.slab("SET a 1", "SET a 2"), OK + ASK);
		Slab script = FilledSlabs.written(this.slabs.slab("EVALSHA " + FilledSlabs.SHA + " 1 a"), "+sha\r\n" + ASK);
		Slab transaction = FilledSlabs.written(this.slabs.transaction("SET a 1"), OK + FilledSlabs.QUEUED + ASK);
		for (Slab slab : List.of(single, script, transaction)) {
			mark(slab);
			settle(slab, true);
			slab.attempt().sendAlone(true);
			assertThat(slab.errors().askingRefusal()).isNull();
			write(slab);
		}
		read(single, refused + MOVED, 1);
		read(script, "-NOPERM no script\r\n" + refused + MOVED, 1);
		read(transaction, refused + OK + MOVED + "-EXECABORT Transaction discarded.\r\n", 1);
		for (Slab slab : List.of(single, script, transaction)) {
			assertThat(slab.isAnswered()).isTrue();
			assertThat(slab.errors().areRedirected()).isTrue();
			assertThat(slab.errors().askingRefusal()).contains("'asking'").contains("+asking");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "-MOVED 15495 h:1", "-TRYAGAIN Multiple keys request during rehashing of slot" })
	void aRedirectedTransactionIsSentAgainAsAWhole(String error) {
		String discarded = "-EXECABORT Transaction discarded because of previous errors.\r\n";
		Slab queued = FilledSlabs.written(this.slabs.transaction("SET a 1", "SET a 2"),
				OK + error + "\r\n" + error + "\r\n" + discarded);
		assertThat(queued.errors().areRedirected()).isTrue();
		assertThat(queued.attempt().leavesTransactionOpen()).isFalse();
		Slab executed = FilledSlabs.written(this.slabs.transaction("SET a 1", "SET a 2"),
				OK + FilledSlabs.QUEUED.repeat(2) + error + "\r\n");
		assertThat(executed.errors().areRedirected()).isTrue();
		assertThat(executed.attempt().leavesTransactionOpen()).isFalse();
		for (Slab slab : List.of(queued, executed)) {
			mark(slab);
			settle(slab, true);
			slab.attempt().sendAlone(true);
			assertThat(write(slab)).containsExactly("ASKING", "MULTI", "SET a 1", "SET a 2", "EXEC");
			read(slab, OK + OK + FilledSlabs.QUEUED.repeat(2) + "*2\r\n" + OK + OK, 1);
			settle(slab, false);
		}
		assertThat(this.account.counts()).isEqualTo(new Counts(4, 4, 0, 0, 0, 0));
	}

	/** The slot may reach its new master between two commands of a transaction. */
	@ParameterizedTest
	@CsvSource({ "ASK 15495 h:1, MOVED 15495 h:1, MOVED", "MOVED 15495 h:1, ASK 15495 h:1, MOVED",
			"ASK 15495 h:1, TRYAGAIN Multiple keys request during rehashing of slot, TRYAGAIN",
			"TRYAGAIN Multiple keys request during rehashing of slot, ASK 15495 h:1, TRYAGAIN",
			"CLUSTERDOWN The cluster is down, MOVED 15495 h:1, MOVED", "ASK 15495 h:1, ASK 15495 h:2, ASK" })
	void aTransactionWithDifferentRedirectionsIsSentAgainAsAWhole(String first, String last, Kind kind) {
		Slab slab = FilledSlabs.written(this.slabs.transaction("SET a 1", "SET a 2", "SET a 3"), OK + "-" + first
				+ "\r\n" + FilledSlabs.QUEUED + "-" + last + "\r\n-EXECABORT Transaction discarded.\r\n");
		assertThat(slab.errors().areRedirected()).isTrue();
		mark(slab);
		assertThat(slab.slots().firstRedirect()).isNotNull().extracting(Redirect::kind).isEqualTo(kind);
		settle(slab, true);
	}

	@ParameterizedTest
	@ValueSource(strings = { "-ERR wrong number of arguments", "-MOVED 7 h:1" })
	void aTransactionWithARedirectionAndAnotherErrorIsNotSentAgain(String error) {
		Slab slab = FilledSlabs.written(this.slabs.transaction("SET a 1", "SET a 2"),
				OK + MOVED + error + "\r\n-EXECABORT Transaction discarded.\r\n");
		assertThat(slab.errors().areRedirected()).isFalse();
		mark(slab);
		settle(slab, false);
	}

	private static long[] bits(int bit) {
		BitSet set = new BitSet();
		set.set(bit);
		return set.toLongArray();
	}

	private static void mark(Slab... slabs) {
		ResendRules.mark(List.of(slabs), true, true, (slab, redirect, byScript) -> true);
	}

	private void settle(Slab slab, boolean again) {
		slab.settle(this.account, Loss.UNEXPLAINED);
		assertThat(slab.retry()).isEqualTo(again);
	}

	private static List<String> write(Slab slab) {
		ByteBuf out = Unpooled.buffer();
		slab.attempt().writeTo(out);
		return FilledSlabs.commands(out.toString(StandardCharsets.UTF_8));
	}

	private static void read(Slab slab, String replies, int pieces) {
		ByteBuf in = Unpooled.copiedBuffer(replies, StandardCharsets.UTF_8);
		while (in.isReadable()) {
			slab.attempt().read(in.readSlice(Math.min(pieces, in.readableBytes())));
		}
	}

}
