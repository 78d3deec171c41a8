package io.pipeset.engine.pipeline.call;

import io.pipeset.engine.pipeline.call.ScanPosition.Standing;
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
		assertThat(ScanPosition.START.at("run", false, LATER)).isEqualTo(Standing.HOLDS);
		assertThat(ScanPosition.START.at(null, true, LATER)).isEqualTo(Standing.HOLDS);
		assertThat(this.known.isAtAnEnd()).isFalse();
	}

	@Test
	void aPositionIsInvalidAfterARestart() {
		assertThat(this.known.at("run", false, LATER)).isEqualTo(Standing.HOLDS);
		assertThat(this.known.at("other", false, SENT)).isEqualTo(Standing.INVALID);
		assertThat(this.known.at("other", true, LATER)).isEqualTo(Standing.INVALID);
	}

	@Test
	void withoutRunIdsOnlyAnOlderConnectionProvesThatThereWasNoRestart() {
		assertThat(this.unknown.at(null, false, SENT)).isEqualTo(Standing.HOLDS);
		assertThat(this.unknown.at("run", false, SENT)).isEqualTo(Standing.HOLDS);
		assertThat(this.known.at(null, false, SENT)).isEqualTo(Standing.HOLDS);
		assertThat(this.unknown.at(null, false, LATER)).isEqualTo(Standing.INVALID);
		assertThat(this.unknown.at(null, true, LATER)).isEqualTo(Standing.INVALID);
		assertThat(this.unknown.at("run", false, LATER)).isEqualTo(Standing.INVALID);
		assertThat(this.known.at(null, false, LATER)).isEqualTo(Standing.INVALID);
	}

	@Test
	void aPendingRunIdLeavesTheAnswerOpen() {
		assertThat(this.known.at(null, true, SENT)).isEqualTo(Standing.HOLDS);
		assertThat(this.known.at(null, true, LATER)).isEqualTo(Standing.UNKNOWN);
	}

	@Test
	void aKnownRunIdIsKeptWhileTheServerDoesNotReportIt() {
		ScanPosition next = this.known.next("18", null, LATER);
		assertThat(next).isEqualTo(new ScanPosition("18", "run", LATER));
		assertThat(this.unknown.next("18", "run", LATER)).isEqualTo(next);
		assertThat(ScanPosition.START.next("18", null, LATER)).isEqualTo(new ScanPosition("18", null, LATER));
	}

}
