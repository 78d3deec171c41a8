package io.pipeset.engine.slab;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What an error of Redis says of the command that it answers. */
class RefusalTests {

	/** Managed servers remove commands that others refuse for lack of permission. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			NOPERM this user has no permissions to run the 'info' command        | true  | false
			ERR unknown command 'INFO', with args beginning with: 'server'       | true  | false
			ERR unknown command `EVALSHA`, with args beginning with: `12` `1`    | true  | true
			NOPERM User loader has no permissions to run the 'evalsha' command   | true  | true
			NOSCRIPT No matching script. Please use EVAL.                        | false | true
			ERR value is not an integer or out of range                          | false | false
			""")
	void aCommandIsRefusedOrUnknown(String message, boolean command, boolean script) {
		assertThat(Refusal.of(message).refusesCommand()).isEqualTo(command);
		assertThat(Refusal.of(message).refusesScript()).isEqualTo(script);
	}

}
