package io.pipeset.engine.pipeline.call;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A cursor is used only until the server restarts. */
class ScanPositionTests {

	private static final long SENT = 100;

	private static final long LATER = 101;

	private final ScanPosition known = new ScanPosition("17", "run", SENT);

	private final ScanPosition unknown = new ScanPosition("17", null, SENT);

	@Test
	void theStartIsAlwaysValid() {
		assertThat(ScanPosition.START.isAtAnEnd()).isTrue();
		assertThat(ScanPosition.START.holds("run", LATER)).isTrue();
		assertThat(ScanPosition.START.holds(null, LATER)).isTrue();
		assertThat(this.known.isAtAnEnd()).isFalse();
	}

	@Test
	void aPositionIsInvalidAfterARestart() {
		assertThat(this.known.holds("run", LATER)).isTrue();
		assertThat(this.known.holds("other", SENT)).isFalse();
		assertThat(this.known.holds("other", LATER)).isFalse();
	}

	@Test
	void withoutRunIdsOnlyAnOlderConnectionProvesThatThereWasNoRestart() {
		assertThat(this.unknown.holds(null, SENT)).isTrue();
		assertThat(this.unknown.holds("run", SENT)).isTrue();
		assertThat(this.known.holds(null, SENT)).isTrue();
		assertThat(this.unknown.holds(null, LATER)).isFalse();
		assertThat(this.unknown.holds("run", LATER)).isFalse();
		assertThat(this.known.holds(null, LATER)).isFalse();
	}

	@Test
	void aKnownRunIdIsKeptWhileTheServerDoesNotReportIt() {
		ScanPosition next = this.known.next("18", null, LATER);
		assertThat(next).isEqualTo(new ScanPosition("18", "run", LATER));
		assertThat(this.unknown.next("18", "run", LATER)).isEqualTo(next);
		assertThat(ScanPosition.START.next("18", null, LATER)).isEqualTo(new ScanPosition("18", null, LATER));
	}

}
