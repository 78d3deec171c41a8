package io.pipeset.engine.pipeline.call;

import io.pipeset.engine.pipeline.call.ScanPlace.Standing;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A cursor is used only in the life of the server that answered it. */
class ScanPlaceTests {

	private static final long ASKED = 100;

	private static final long LATER = 101;

	private final ScanPlace known = new ScanPlace("17", "life", ASKED);

	private final ScanPlace unknown = new ScanPlace("17", null, ASKED);

	@Test
	void theBeginningIsTheSameInEveryLife() {
		assertThat(ScanPlace.START.isAtAnEnd()).isTrue();
		assertThat(ScanPlace.START.at("life", false, LATER)).isEqualTo(Standing.HOLDS);
		assertThat(ScanPlace.START.at(null, true, LATER)).isEqualTo(Standing.HOLDS);
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
		ScanPlace next = this.known.next("18", null, LATER);
		assertThat(next).isEqualTo(new ScanPlace("18", "life", LATER));
		assertThat(this.unknown.next("18", "life", LATER)).isEqualTo(next);
		assertThat(ScanPlace.START.next("18", null, LATER)).isEqualTo(new ScanPlace("18", null, LATER));
	}

}
