package io.pipeset.pipeline.call;

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
		assertThat(ScanPlace.START.isOf("life", LATER)).isTrue();
		assertThat(ScanPlace.START.isOf(null, LATER)).isTrue();
		assertThat(this.known.isAtAnEnd()).isFalse();
	}

	@Test
	void aPlaceIsOfTheLifeInWhichItWasAnswered() {
		assertThat(this.known.isOf("life", LATER)).isTrue();
		assertThat(this.known.isOf("other", ASKED)).isFalse();
	}

	@Test
	void whereLivesCannotBeToldApartANewerConnectionMayLeadToANewOne() {
		assertThat(this.unknown.isOf(null, ASKED)).isTrue();
		assertThat(this.unknown.isOf("life", ASKED)).isTrue();
		assertThat(this.known.isOf(null, ASKED)).isTrue();
		assertThat(this.unknown.isOf(null, LATER)).isFalse();
		assertThat(this.unknown.isOf("life", LATER)).isFalse();
		assertThat(this.known.isOf(null, LATER)).isFalse();
	}

}
