package io.pipeset.report;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An account of a job that ends at the first empty reply does not count later noops.
 */
class AccountTests {

	@Test
	void onlyTheFirstEmptyReplyIsCounted() {
		Account account = new Account(Results.ALL, 100, true);
		account.endsWhenEmpty();
		account.count("RPOP", Outcome.APPLIED, 5);
		assertThat(account.isEmpty()).isFalse();
		assertThat(account.claimItem(Outcome.NOOP, 0)).isTrue();
		assertThat(account.claimItem(Outcome.NOOP, 0)).isFalse();
		account.count("RPOP", Outcome.NOOP, 3);
		assertThat(account.isEmpty()).isTrue();
		account.count("RPOP", Outcome.APPLIED, 2);
		account.count("RPOP", Outcome.NOOP, 4);
		assertThat(account.claimItem(Outcome.UNPROCESSED, 0)).isTrue();
		account.count("RPOP", Outcome.UNPROCESSED, 9);
		account.count("RPOP", Outcome.UNKNOWN, 1);
		assertThat(account.counts()).isEqualTo(new Counts(18, 7, 1, 0, 1, 9));
		assertThat(account.skippedNoops()).isEqualTo(2 + 4);
	}

	@Test
	void otherAccountsCountAllNoops() {
		Account account = new Account(Results.ALL, 100, true);
		account.count("RPOP", Outcome.NOOP, 3);
		account.count("RPOP", Outcome.UNPROCESSED, 2);
		assertThat(account.isEmpty()).isFalse();
		assertThat(account.counts()).isEqualTo(new Counts(5, 0, 3, 0, 0, 2));
		assertThat(account.skippedNoops()).isZero();
	}

}
