package io.pipeset.engine.slab;

import java.util.List;

import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Item;
import io.pipeset.report.Item.Failure;
import io.pipeset.report.Outcome;
import io.pipeset.report.Results;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A command that may have run at its first attempt is unknown, unless a later attempt
 * certainly runs it.
 */
class SecondAttemptTests {

	private static final String OK = FilledSlabs.OK;

	private static final String BUSY = "-BUSY Redis is busy running a script.\r\n";

	private static final Loss FIRST = new Loss(Loss.CONNECTION_LOST, "The first was lost");

	private static final Loss SECOND = new Loss(Loss.TIMEOUT, "The second was slow");

	private final FilledSlabs slabs = new FilledSlabs();

	private final Account account = new Account(Results.ALL, 100, false);

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aLostCommandThatIsNotSentAgainIsUnknown(boolean atomic) {
		Slab slab = lostOnce(atomic, "SET a 1", "SET b 2");
		slab.settle(this.account, null);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 0, 2, 0));
		assertThat(failure(0)).isEqualTo(
				new Failure(Loss.CONNECTION_LOST, "The first was lost; the job ended before it was sent again", true));
	}

	@ParameterizedTest
	@ValueSource(strings = { "READONLY no", "OOM no", "BUSY Redis is busy running a script." })
	void aLostCommandThatIsThenRefusedIsUnknown(String error) {
		Slab slab = lostOnce(false, "SET a 1", "SET b 2");
		end(FilledSlabs.written(slab, "-" + error + "\r\n" + OK), null);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 1, 0, 0, 1, 0));
		assertThat(failure(0)).isEqualTo(
				new Failure(Loss.CONNECTION_LOST, "The first was lost; sent again, Redis answered: " + error, true));
	}

	@Test
	void aLostCommandThatIsThenRefusedForGoodIsNotRetryable() {
		end(FilledSlabs.written(lostOnce(false, "SADD a 1"), "-WRONGTYPE no\r\n"), null);
		assertThat(failure(0).code()).isEqualTo(Loss.CONNECTION_LOST);
		assertThat(failure(0).retryable()).isFalse();
	}

	@Test
	void aLostTransactionThatIsThenDiscardedIsUnknown() {
		Slab slab = lostOnce(true, "SET a 1", "SET b 2");
		end(FilledSlabs.written(slab, OK + "-READONLY no\r\n" + FilledSlabs.QUEUED + "-EXECABORT discarded\r\n"), null);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 0, 2, 0));
		assertThat(failure(0).message()).endsWith("answered: READONLY no");
		assertThat(failure(1).message()).endsWith("answered: EXECABORT discarded");
	}

	@Test
	void anErrorOfTheSameLengthAtTheSameIndexIsParsedAgain() {
		Slab slab = FilledSlabs.written(this.slabs.slab("SADD a 1"), "-BUSY Redis\r\n");
		assertThat(slab.errors().transientCode()).isEqualTo("BUSY");
		assertThat(again(slab, false, null)).hasSize(1);
		end(FilledSlabs.written(slab, "-OOMM Redis\r\n"), null);
		assertThat(failure(0).message()).isEqualTo("OOMM Redis");
	}

	@Test
	void theStartOfALostReplyIsForgotten() {
		Slab slab = FilledSlabs.written(this.slabs.slab("SADD a 1", "SADD b 2"), ":1\r\n$20\r\nthe beginning");
		ResendRules.mark(List.of(slab), true, true);
		slab.settle(this.account, FIRST);
		assertThat(slab.retry()).isTrue();
		end(FilledSlabs.written(slab, ":1\r\n"), null);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void anUnconfirmedCommandThatIsThenRefusedIsUnknown(boolean atomic) {
		String[] commands = { "SET a 1", "SADD b 1", "SET c 3" };
		String answers = (atomic) ? OK + FilledSlabs.QUEUED.repeat(3) + "*3\r\n" : "";
		Slab slab = FilledSlabs.written((atomic) ? this.slabs.transaction(commands) : this.slabs.slab(commands),
				answers + OK + "-WRONGTYPE no\r\n" + OK);
		slab.attempt().unconfirmed(new Loss(Loss.UNCONFIRMED, "No replica has it"));
		ResendRules.mark(List.of(slab), true, true);
		slab.settle(this.account, FIRST);
		assertThat(slab.retry()).isTrue();
		end(FilledSlabs.written(slab,
				(atomic) ? OK + "-READONLY no\r\n".repeat(3) + "-EXECABORT no\r\n" : "-READONLY no\r\n".repeat(2)),
				null);
		assertThat(this.account.counts()).isEqualTo(new Counts(3, 0, 0, 1, 2, 0));
		assertThat(failure(0).code()).isEqualTo(Loss.UNCONFIRMED);
		assertThat(this.account.losses().unconfirmed()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aCommandThatIsLostTwiceKeepsItsFirstCode(boolean atomic) {
		end(FilledSlabs.written(lostOnce(atomic, "SET a 1"), ""), SECOND);
		assertThat(this.account.counts()).isEqualTo(new Counts(1, 0, 0, 0, 1, 0));
		assertThat(failure(0)).isEqualTo(new Failure(Loss.CONNECTION_LOST,
				"The first was lost; sent again, it was lost again: The second was slow", true));
	}

	@Test
	void aLostCommandThatIsThenAnsweredHasTheOutcomeOfTheAnswer() {
		end(FilledSlabs.written(lostOnce(false, "SET a 1", "DEL b"), OK + ":0\r\n"), null);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(this.account.items().get(1).reply().value()).isEqualTo(0L);
	}

	@Test
	void aCommandThatWasNotLostIsRejectedOrUnprocessed() {
		Slab slab = FilledSlabs.written(this.slabs.slab("SET a 1", "SET b 2", "SET c 3"), OK + BUSY);
		assertThat(again(slab, true, FIRST)).containsExactly("SET b 2", "SET c 3");
		Slab other = this.slabs.slab("SET d 4");
		assertThat(again(other, true, FIRST)).containsExactly("SET d 4");
		end(FilledSlabs.written(slab, "-OOM no\r\n-OOM no\r\n"), null);
		end(other, null);
		assertThat(this.account.counts()).isEqualTo(new Counts(4, 1, 0, 1, 1, 1));
		assertThat(this.account.items()).extracting(Item::status)
			.containsExactly(Outcome.APPLIED, Outcome.REJECTED, Outcome.UNKNOWN, Outcome.UNPROCESSED);
	}

	@Test
	void aLossIsRememberedOverAnyNumberOfAttempts() {
		Slab slab = lostOnce(false, "SET a 1", "SET b 2", "SET c 3");
		assertThat(again(slab, false, SECOND)).hasSize(3);
		FilledSlabs.written(slab, BUSY + OK + BUSY);
		assertThat(slab.errors().transientCode()).isEqualTo("BUSY");
		assertThat(again(slab, false, null)).containsExactly("SET a 1", "SET c 3");
		assertThat(again(FilledSlabs.written(slab, BUSY), true, SECOND)).containsExactly("SET a 1", "SET c 3");
		slab.settle(this.account, null);
		assertThat(this.account.counts()).isEqualTo(new Counts(3, 1, 0, 0, 2, 0));
		assertThat(failure(2).code()).isEqualTo(Loss.CONNECTION_LOST);
	}

	@Test
	void aLossIsForgottenWhenTheSlabIsReused() {
		Slab slab = lostOnce(false, "SET a 1");
		end(this.slabs.fill(slab, false, "SET b 1"), null);
		end(FilledSlabs.written(this.slabs.fill(slab, false, "SET c 1"), "-OOM no\r\n"), null);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 1, 0, 1));
	}

	@Test
	void aLostCommandThatIsThenRefusedIsSentAgainAfterAnEarlierOneOfItsKeyIs() {
		Slab slab = lostOnce(false, "SET a 1", "SET b 1", "SET a 2", "SET c 1");
		FilledSlabs.written(slab, BUSY + BUSY + "-OOM no\r\n" + "-OOM no\r\n");
		assertThat(again(slab, true, null)).containsExactly("SET a 1", "SET b 1", "SET a 2");
		FilledSlabs.written(slab, OK + OK + "-OOM no\r\n");
		end(slab, null);
		assertThat(this.account.counts()).isEqualTo(new Counts(4, 2, 0, 0, 2, 0));
	}

	@Test
	void nothingIsSentAgainAfterALostCommandThatIsThenHeldBack() {
		Slab slab = lostOnce(false, "SET a 1", "DEL a b", "SET b 1");
		FilledSlabs.written(slab, BUSY + BUSY + OK);
		assertThat(again(slab, true, null)).isEmpty();
		assertThat(this.account.counts()).isEqualTo(new Counts(3, 1, 0, 0, 2, 0));
	}

	@Test
	void aTransactionWithSomeRepliesIsUnknownAsAWholeIfItIsNotSentAgain() {
		Slab slab = this.slabs.transaction("SET a 1", "SET b 2");
		FilledSlabs.written(slab, OK + FilledSlabs.QUEUED.repeat(2) + "*2\r\n" + OK);
		assertThat(again(slab, true, FIRST)).hasSize(4);
		slab.settle(this.account, null);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 0, 2, 0));
	}

	@Test
	void aTransactionThatWasDiscardedForATransientErrorHasNotRun() {
		Slab slab = this.slabs.transaction("SET a 1", "SET b 2");
		FilledSlabs.written(slab, OK + BUSY + FilledSlabs.QUEUED + "-EXECABORT discarded\r\n");
		assertThat(again(slab, false, null)).hasSize(4);
		slab.settle(this.account, null);
		assertThat(this.account.counts()).isEqualTo(new Counts(2, 0, 0, 0, 0, 2));
	}

	/** A slab that was written and lost, and that is ready to be sent again. */
	private Slab lostOnce(boolean atomic, String... commands) {
		Slab slab = (atomic) ? this.slabs.transaction(commands) : this.slabs.slab(commands);
		again(FilledSlabs.written(slab, ""), true, FIRST);
		assertThat(slab.count()).isEqualTo(commands.length);
		return slab;
	}

	private List<String> again(Slab slab, boolean resendUnknown, @Nullable Loss loss) {
		ResendRules.mark(List.of(slab), resendUnknown, true);
		slab.settle(this.account, loss);
		slab.retry();
		return FilledSlabs.commands(slab);
	}

	/** Settles a slab that is not sent again. */
	private void end(Slab slab, @Nullable Loss loss) {
		slab.settle(this.account, loss);
		assertThat(slab.retry()).isFalse();
	}

	private Failure failure(int item) {
		return this.account.items().get(item).error();
	}

}
