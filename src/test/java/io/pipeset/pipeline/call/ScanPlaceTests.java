package io.pipeset.pipeline.call;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A cursor is used only in the life of the server that answered it. */
class ScanPlaceTests {

	private final ScanPlace known = new ScanPlace("17", "life", false);

	private final ScanPlace unknown = new ScanPlace("17", null, false);

	@Test
	void theBeginningIsTheSameInEveryLife() {
		assertThat(ScanPlace.START.isAtAnEnd()).isTrue();
		assertThat(ScanPlace.START.isOf("life")).isTrue();
		assertThat(ScanPlace.START.doubted().isOf(null)).isTrue();
		assertThat(this.known.isAtAnEnd()).isFalse();
	}

	@Test
	void aPlaceIsOfTheLifeInWhichItWasAnswered() {
		assertThat(this.known.isOf("life")).isTrue();
		assertThat(this.known.doubted().isOf("life")).isTrue();
		assertThat(this.known.isOf("other")).isFalse();
		assertThat(this.known.isOf(null)).isFalse();
	}

	@Test
	void whereLivesCannotBeToldApartAFailedCallMayHaveMetANewOne() {
		assertThat(this.unknown.isOf(null)).isTrue();
		assertThat(this.unknown.isOf("life")).isFalse();
		assertThat(this.unknown.doubted().isOf(null)).isFalse();
	}

}
