package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.DecoderException;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Results;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The replies to a transaction give each of its commands the right outcome. */
class TransactionRepliesTests {

	private static final Loss LOSS = new Loss(Loss.CONNECTION_LOST, "cut");

	private final FilledSlabs slabs = new FilledSlabs();

	@Test
	void aTransactionIsOneWrite() {
		Slab slab = this.slabs.transaction("SET k0 k0", "SET k1 k1");
		ByteBuf out = Unpooled.buffer();
		slab.attempt().writeTo(out);
		String resp = out.toString(StandardCharsets.UTF_8);
		assertThat(resp).startsWith("*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n")
			.endsWith("$2\r\nk1\r\n*1\r\n$4\r\nEXEC\r\n");
		assertThat(slab.bytes()).isEqualTo(resp.length());
	}

	@Test
	void outcomesAreReadFromTheReplyToExecWhereverItIsCut() {
		readAtEveryCut("+OK\r\n+QUEUED\r\n>2\r\n+message\r\n:1\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+OK\r\n"
				+ "-WRONGTYPE Operation against a key\r\n_\r\n", (account) -> {
					assertThat(account.counts()).isEqualTo(new Counts(3, 1, 1, 1, 0, 0));
					assertThat(account.items()).singleElement().satisfies((item) -> {
						assertThat(item.index()).isEqualTo(1);
						assertThat(item.error().code()).isEqualTo("WRONGTYPE");
					});
				});
	}

	@ParameterizedTest
	@ValueSource(strings = { "-NOPERM no permission\r\n", "!20\r\nNOPERM no permission\r\n" })
	void aDiscardedTransactionRejectsAllAndNamesTheCausesWhereverItIsCut(String error) {
		readAtEveryCut("+OK\r\n+QUEUED\r\n" + error
				+ "+QUEUED\r\n-EXECABORT Transaction discarded because of previous errors.\r\n", (account) -> {
					assertThat(account.counts()).isEqualTo(new Counts(3, 0, 0, 3, 0, 0));
					assertThat(account.items()).extracting((item) -> item.error().code())
						.containsExactly("EXECABORT", "NOPERM", "EXECABORT");
					assertThat(account.items()).extracting((item) -> item.error().retryable())
						.containsExactly(true, false, true);
				});
	}

	@Test
	void theCodeOfADiscardedTransactionIsThatOfItsReason() {
		Slab slab = transaction(2);
		assertThat(slab.attempt()
			.read(utf8("+OK\r\n+QUEUED\r\n+QUEUED\r\n-EXECABORT Transaction discarded because of:"
					+ " OOM command not allowed\r\n")))
			.isTrue();
		assertThat(slab.errors().soleCode()).isEqualTo("OOM");
		assertThat(slab.errors().transientCode()).isNull();
		Account account = new Account(Results.ALL, 10, false);
		slab.settle(account, LOSS);
		assertThat(account.items()).extracting((item) -> item.error().code()).containsExactly("EXECABORT", "EXECABORT");
	}

	@ParameterizedTest
	@ValueSource(strings = { "+OK\r\n+QUEUED\r\n+QUEUED\r\n*-1\r\n", "+OK\r\n+QUEUED\r\n+QUEUED\r\n_\r\n",
			"+OK\r\n+QUEUED\r\n+QUEUED\r\n+OK\r\n", "+OK\r\n+QUEUED\r\n+QUEUED\r\n*1\r\n",
			"+OK\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n", "+OK\r\n+QUEUED\r\n-ERR no\r\n*2\r\n" })
	void aReplyThatCannotAnswerATransactionIsAnError(String replies) {
		assertThatExceptionOfType(DecoderException.class)
			.isThrownBy(() -> transaction(2).attempt().read(utf8(replies)));
	}

	@Test
	void aTransactionThatIsCutOffIsUnknown() {
		for (String replies : List.of("", "+OK\r\n", "+OK\r\n+QUEUED\r\n-NOPERM", "+OK\r\n+QUEUED\r\n-ERR\r\n",
				"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r")) {
			Slab slab = transaction(2);
			assertThat(slab.attempt().read(utf8(replies))).isFalse();
			Account account = new Account(Results.ALL, 10, false);
			slab.settle(account, LOSS);
			assertThat(account.counts()).isEqualTo(new Counts(2, 0, 0, 0, 2, 0));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "+OK\r\n", "+OK\r\n+QUEUED\r\n", "+OK\r\n+QUEUED\r\n+QUEUED\r\n" })
	void aTransactionDidNotRunIfTheSocketDidNotTakeItsEnd(String replies) {
		Slab slab = transaction(2);
		slab.attempt().read(utf8(replies));
		slab.attempt().endWasNotSent();
		Account account = new Account(Results.ALL, 10, false);
		slab.settle(account, LOSS);
		assertThat(account.counts()).isEqualTo(new Counts(2, 0, 0, 0, 0, 2));
		assertThat(account.items()).extracting((item) -> item.error().code()).containsOnly("NOT_SENT");
	}

	/** If MULTI is refused, Redis runs each command when it arrives. */
	@ParameterizedTest
	@CsvSource({ "'-NOPERM no multi\n', 0, 2", "'-NOPERM no multi\n:1\n', 1, 1" })
	void commandsOfARefusedTransactionMayHaveRunWithoutItsEnd(String replies, int applied, int unknown) {
		Slab slab = this.slabs.transaction("INCRBY k0 1", "INCRBY k1 1");
		slab.attempt().writeTo(Unpooled.buffer());
		slab.attempt().read(utf8(replies.replace("\n", "\r\n")));
		slab.attempt().endWasNotSent();
		ResendRules.mark(List.of(slab), false, true);
		assertThat(slab.toResend().isEmpty()).isTrue();
		Account account = new Account(Results.ALL, 10, false);
		slab.settle(account, LOSS);
		assertThat(account.counts()).isEqualTo(new Counts(2, applied, 0, 0, unknown, 0));
	}

	/** Reads the replies to a transaction of three commands, cut in two at every byte. */
	private void readAtEveryCut(String replies, Consumer<Account> check) {
		int length = utf8(replies).readableBytes();
		for (int cut = 0; cut <= length; cut++) {
			Slab slab = transaction(3);
			ByteBuf in = utf8(replies);
			boolean early = slab.attempt().read(in.readSlice(cut));
			assertThat(early).as("cut at %d", cut).isEqualTo(cut == length);
			if (!early) {
				assertThat(slab.attempt().read(in)).as("cut at %d", cut).isTrue();
			}
			Account account = new Account(Results.ERRORS, 10, false);
			slab.settle(account, LOSS);
			check.accept(account);
		}
	}

	private static ByteBuf utf8(String text) {
		return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
	}

	/** A transaction of SETs with NX that was written. */
	private static Slab transaction(int commands) {
		FilledSlabs slabs = new FilledSlabs();
		Slab slab = slabs.transaction(
				List.of("SET k0 k0 NX", "SET k1 k1 NX", "SET k2 k2 NX").subList(0, commands).toArray(String[]::new));
		slab.attempt().writeTo(Unpooled.buffer());
		return slab;
	}

}
