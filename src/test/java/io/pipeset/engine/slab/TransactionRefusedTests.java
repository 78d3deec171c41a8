package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.DecoderException;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Item;
import io.pipeset.report.Outcome;
import io.pipeset.report.Results;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The commands of a transaction that Redis refuses as a whole have the right outcomes.
 */
class TransactionRefusedTests {

	private static final String OK = FilledSlabs.OK;

	private static final String QUEUED = FilledSlabs.QUEUED;

	private static final String NO_MULTI = "-NOPERM no 'multi'\r\n";

	private static final String NO_TRANSACTION = "-ERR EXEC without MULTI\r\n";

	private static final Loss LOSS = new Loss(Loss.CONNECTION_LOST, "gone");

	private final FilledSlabs slabs = new FilledSlabs();

	private final Account account = new Account(Results.ALL, 100, false);

	@Test
	void commandsAfterARefusedMultiHaveTheirOwnReplies() {
		String replies = NO_MULTI + OK + "$-1\r\n" + "-WRONGTYPE no\r\n" + ":1\r\n" + NO_TRANSACTION;
		for (int cut = 0; cut <= replies.length(); cut++) {
			Slab slab = this.slabs.transaction("SET a 1", "SET a 2 NX", "SADD a 3", "DEL a");
			slab.attempt().writeTo(Unpooled.buffer());
			assertThat(slab.attempt().read(bytes(replies.substring(0, cut)))).as("%d bytes", cut)
				.isEqualTo(cut == replies.length());
			ByteBuf rest = bytes(replies.substring(cut) + "+NEXT");
			assertThat(slab.attempt().read(rest)).isTrue();
			assertThat(rest.toString(StandardCharsets.UTF_8)).isEqualTo("+NEXT");
			Account of = new Account(Results.ALL, 100, false);
			slab.settle(of, null);
			assertThat(of.items()).extracting(Item::status)
				.containsExactly(Outcome.APPLIED, Outcome.NOOP, Outcome.REJECTED, Outcome.APPLIED);
			assertThat(of.items().get(2).error().message()).isEqualTo("WRONGTYPE no");
			assertThat(of.transactionRefusal()).contains("Redis refused MULTI", "NOPERM no 'multi'");
			assertThat(slab.errors().transientCode()).isNull();
		}
	}

	@Test
	void aRefusedTransactionIsNotSentAgainAndUnansweredCommandsAreUnknown() {
		Slab slab = FilledSlabs.written(this.slabs.transaction("SET a 1", "SET b 2"), NO_MULTI + OK);
		Slab before = FilledSlabs.written(this.slabs.slab("SET a 0", "SET c 0"), "");
		ResendRules.mark(List.of(before, slab), true, true);
		assertThat(before.toResend().cardinality()).isEqualTo(1);
		slab.settle(this.account, LOSS);
		assertThat(slab.retry()).isFalse();
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 1, 0, 0, 1, 0));
		assertThat(this.account.transactionRefusal()).contains("Redis refused MULTI");
	}

	@Test
	void theReplyToExecAfterARefusedMultiChangesNoOutcome() {
		Slab slab = FilledSlabs.written(this.slabs.transaction("SET a 1", "SET b 2"), NO_MULTI + OK + OK + "-E");
		assertThat(slab.isAnswered()).isTrue();
		slab.settle(this.account, LOSS);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
	}

	@Test
	void commandsQueuedInAnotherTransactionAreUnknown() {
		Slab slab = this.slabs.transaction("SET a 1", "SET b 2");
		slab.attempt().writeTo(Unpooled.buffer());
		assertThatThrownBy(() -> slab.attempt()
			.read(bytes("-ERR MULTI calls can not be nested\r\n" + QUEUED + QUEUED + "*2\r\n" + OK + OK)))
			.isInstanceOf(DecoderException.class);
		slab.settle(this.account, LOSS);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 0, 2, 0));
	}

	@Test
	void anExecWithoutPermissionIsARefusalOfTransactions() {
		settle(QUEUED + QUEUED + "-EXECABORT Transaction discarded because of: NOPERM no 'exec'\r\n");
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 2, 0, 0));
		assertThat(this.account.transactionRefusal()).contains("Redis refused EXEC", "NOPERM no 'exec'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "+QUEUED\r\n-NOPERM no 'sadd'\r\n-EXECABORT Transaction discarded\r\n",
			"+QUEUED\r\n+QUEUED\r\n-EXECABORT Transaction discarded because of: OOM no\r\n",
			"+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n-NOPERM no 'sadd'\r\n" })
	void anErrorOfACommandIsNoRefusalOfTransactions(String replies) {
		settle(replies);
		assertThat(this.account.transactionRefusal()).isNull();
	}

	private void settle(String replies) {
		Slab slab = FilledSlabs.written(this.slabs.transaction("SET a 1", "SADD b 2"), OK + replies);
		assertThat(slab.isAnswered()).isTrue();
		slab.settle(this.account, null);
	}

	private static ByteBuf bytes(String text) {
		return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
	}

}
