package io.pipeset.engine.pipeline.call;

import io.pipeset.engine.pipeline.call.ScanPosition.Standing;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A cursor is used only in the life of the server that answered it. */
class ScanPositionTests {

	private static final long ASKED = 100;

	private static final long LATER = 101;

	private final ScanPosition known = new ScanPosition("17", "life", ASKED);

	private final ScanPosition unknown = new ScanPosition("17", null, ASKED);

	@Test
	void theBeginningIsTheSameInEveryLife() {
		assertThat(ScanPosition.START.isAtAnEnd()).isTrue();
		assertThat(ScanPosition.START.at("life", false, LATER)).isEqualTo(Standing.HOLDS);
		assertThat(ScanPosition.START.at(null, true, LATER)).isEqualTo(Standing.HOLDS);
		assertThat(this.known.isAtAnEnd()).isFalse();
	}

	@Test
	void aPlaceIsOfTheLifeInWhichItWasAnswered() {
		assertThat(this.known.at("life", false, LATER)).isEqualTo(Standing.HOLDS);
		assertThat(this.known.at("other", false, ASKED)).isEqualTo(Standing.MEANS_NOTHING);
		assertThat(this.known.at("other", true, LATER)).isEqualTo(Standing.MEANS_NOTHING);
	}

	@Test
	void whereLivesCannotBeToldApartANewerConnectionMayLeadToANewOne() {
		assertThat(this.unknown.at(null, false, ASKED)).isEqualTo(Standing.HOLDS);
		assertThat(this.unknown.at("life", false, ASKED)).isEqualTo(Standing.HOLDS);
		assertThat(this.known.at(null, false, ASKED)).isEqualTo(Standing.HOLDS);
		assertThat(this.unknown.at(null, false, LATER)).isEqualTo(Standing.MEANS_NOTHING);
		assertThat(this.unknown.at(null, true, LATER)).isEqualTo(Standing.MEANS_NOTHING);
		assertThat(this.unknown.at("life", false, LATER)).isEqualTo(Standing.MEANS_NOTHING);
		assertThat(this.known.at(null, false, LATER)).isEqualTo(Standing.MEANS_NOTHING);
	}

	@Test
	void aServerThatIsBusyIsAskedForItsLifeAgain() {
		assertThat(this.known.at(null, true, ASKED)).isEqualTo(Standing.HOLDS);
		assertThat(this.known.at(null, true, LATER)).isEqualTo(Standing.NOT_TOLD);
	}

	@Test
	void aLifeThatWasToldIsRememberedWhileTheServerDoesNotTellItAgain() {
		ScanPosition next = this.known.next("18", null, LATER);
		assertThat(next).isEqualTo(new ScanPosition("18", "life", LATER));
		assertThat(this.unknown.next("18", "life", LATER)).isEqualTo(next);
		assertThat(ScanPosition.START.next("18", null, LATER)).isEqualTo(new ScanPosition("18", null, LATER));
	}

}
