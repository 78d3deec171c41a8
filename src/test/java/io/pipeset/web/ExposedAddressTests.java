package io.pipeset.web;

import io.pipeset.redis.TestRedis;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The service is reachable from other machines only if a property says so. */
class ExposedAddressTests {

	@ParameterizedTest
	@CsvSource({ "--server.address=, server.address", "--management.server.port=0, management.server.address" })
	void anAddressThatOthersReachFailsTheStart(String argument, String property) {
		assertThatExceptionOfType(Exception.class)
			.isThrownBy(() -> ServiceProcess.start(TestRedis.shared(), argument).close())
			.havingRootCause()
			.withMessageContaining("APPLICATION FAILED TO START")
			.withMessageContaining("\n" + property + " is ")
			.withMessageContaining("Set " + property + "=127.0.0.1, or pipeset.security.anonymous=true")
			.satisfies((failure) -> assertThat(failure.getMessage()).doesNotContain("\tat "));
	}

}
