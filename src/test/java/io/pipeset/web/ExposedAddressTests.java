package io.pipeset.web;

import io.pipeset.PipesetApplication;
import io.pipeset.QuietLog;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.builder.SpringApplicationBuilder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** The service is reachable from other machines only if a property says so. */
class ExposedAddressTests {

	@ParameterizedTest
	@CsvSource({ "--server.address=, server.address", "--management.server.port=0, management.server.address" })
	void anAddressThatOthersReachFailsTheStart(String argument, String property) {
		QuietLog.expect("APPLICATION FAILED TO START");
		int before = QuietLog.heard().size();
		SpringApplicationBuilder application = new SpringApplicationBuilder(PipesetApplication.class)
			.registerShutdownHook(false);
		assertThatException().isThrownBy(
				() -> application.run("--server.port=0", "--pipeset.embedded-redis.enabled=false", argument).close());
		// The analysis, and no stack trace.
		assertThat(QuietLog.heard().subList(before, QuietLog.heard().size())).singleElement()
			.asString()
			.contains("APPLICATION FAILED TO START", "\n" + property + " is ",
					"Set " + property + "=127.0.0.1, or pipeset.security.anonymous=true")
			.doesNotContain("Exception");
	}

}
