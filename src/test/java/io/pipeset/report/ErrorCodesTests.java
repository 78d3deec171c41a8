package io.pipeset.report;

import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Records are counted by error code in bounded memory, even if a script replies with many
 * codes.
 */
class ErrorCodesTests {

	private final ErrorCodes codes = new Account(Results.NONE, 0, false).errorCodes();

	@Test
	void recordsOfOneCodeAreAddedUp() {
		this.codes.add("WRONGTYPE", 2);
		this.codes.add("MALFORMED", 1);
		this.codes.add("WRONGTYPE", 3);
		this.codes.add("OOM", 0);
		assertThat(this.codes.counts()).containsExactly(Map.entry("MALFORMED", 1L), Map.entry("WRONGTYPE", 5L));
	}

	@Test
	void codesBeyondTheLimitAreCountedAsOther() {
		for (int i = 0; i < 10 * ErrorCodes.MAX_CODES; i++) {
			this.codes.add("E" + i, 1);
		}
		this.codes.add("E0", 1);
		assertThat(this.codes.counts()).hasSize(ErrorCodes.MAX_CODES + 1)
			.containsEntry("E0", 2L)
			.containsEntry(ErrorCodes.OTHER, 9L * ErrorCodes.MAX_CODES);
	}

	@Test
	void invalidCodesAreCountedAsOther() {
		this.codes.add("E".repeat(ErrorCodes.MAX_CODE_LENGTH), 1);
		this.codes.add("E".repeat(ErrorCodes.MAX_CODE_LENGTH + 1), 1);
		this.codes.add("", 1);
		assertThat(this.codes.counts()).containsOnly(Map.entry("E".repeat(ErrorCodes.MAX_CODE_LENGTH), 1L),
				Map.entry(ErrorCodes.OTHER, 2L));
	}

}
