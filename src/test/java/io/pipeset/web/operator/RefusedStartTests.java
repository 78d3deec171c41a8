package io.pipeset.web.operator;

import io.pipeset.PipesetApplication;
import io.pipeset.QuietLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.builder.SpringApplicationBuilder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** A start that a property forbids ends in a few words that name it. */
class RefusedStartTests {

	/** The service is reachable from other machines only if a property says so. */
	@ParameterizedTest
	@CsvSource({ "--server.address=, server.address", "--management.server.port=0, management.server.address" })
	void anAddressThatOthersReachFailsTheStart(String argument, String property) {
		assertThat(failure(argument)).contains("\n" + property + " is ",
				"Set " + property + "=127.0.0.1, or pipeset.security.anonymous=true");
	}

	/** By HTTP/2 slow readers would have no bound. */
	@Test
	void http2FailsTheStart() {
		assertThat(failure("--server.http2.enabled=true")).contains("'server.http2.enabled'", "HTTP/1.1",
				"let a proxy in front of the service speak HTTP/2");
	}

	/** The analysis of a failed start, in which no stack trace is. */
	private static String failure(String argument) {
		QuietLog.expect("APPLICATION FAILED TO START");
		int before = QuietLog.heard().size();
		SpringApplicationBuilder application = new SpringApplicationBuilder(PipesetApplication.class)
			.registerShutdownHook(false);
		assertThatException().isThrownBy(
				() -> application.run("--server.port=0", "--pipeset.embedded-redis.enabled=false", argument).close());
		assertThat(QuietLog.heard().subList(before, QuietLog.heard().size())).hasSize(1);
		String analysis = String.valueOf(QuietLog.heard().get(before));
		assertThat(analysis).contains("APPLICATION FAILED TO START").doesNotContain("Exception");
		return analysis;
	}

}
