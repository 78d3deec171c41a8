package io.pipeset.web.operator;

import java.util.Arrays;
import java.util.stream.Stream;

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

	private static final String HASH = "9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144";

	/** The service is reachable from other machines only if a property says so. */
	@ParameterizedTest
	@CsvSource({ "--server.address=, server.address", "--management.server.port=0, management.server.address" })
	void anAddressThatOthersReachFailsTheStart(String argument, String property) {
		assertThat(failure(argument)).contains("\n" + property + " is ",
				"Give callers keys (pipeset.clients.<name>.key-sha256), or set " + property
						+ "=127.0.0.1, or pipeset.security.anonymous=true");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					orders.key-sha256=a-key-that-is-none            | pipeset.clients.orders.key-sha256 must be | 64 hexadecimal
					orders.key-sha256=a-key,9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144 | pipeset.clients.orders.key-sha256 must be | sha256sum
					orders.key-sha256=                              | pipeset.clients.orders.key-sha256 is missing | openssl rand -hex 32
					orders.scripts=true                             | pipeset.clients.orders.key-sha256 is missing | openssl rand -hex 32
					Orders_1.key-sha256=HASH                        | names a client 'Orders_1' | 1 to 32 small letters
					none.key-sha256=HASH                            | names a client 'none' | not none or service
					service.key-sha256=HASH                         | names a client 'service' | not none or service
					a.key-sha256=HASH b.key-sha256=HASH             | pipeset.clients.b.key-sha256 has a value that stands at pipeset.clients.a.key-sha256 | keys of its own
					a.key-sha256=HASH a.key-prefixes=a:,pipeset:b   | pipeset.clients.a.key-prefixes must be | Leave key-prefixes out
					a.key-sha256=HASH a.limits.max-jobs=0           | pipeset.clients.a.limits.max-jobs must be 1 or more, not 0 | Leave it out
					a.key-sha256=HASH a.limits.rate-limit=-1        | pipeset.clients.a.limits.rate-limit must be 1 to 1000000000 commands a second, not -1 | Leave it out
					a.key-sha256=HASH a.limits.rate-limit=1000000001 | pipeset.clients.a.limits.rate-limit must be 1 to 1000000000 commands a second, not 1000000001 | Leave it out
					a.key-sha256=HASH a.limits.max-record=1         | pipeset.clients.a.limits.max-record | pipeset.clients.name.limits.max-records
					a.key-sha256=HASH ../security.anonymous=true    | pipeset.security.anonymous is true, and pipeset.clients.a is set | Leave one of them out
					a.key-sha256=HASH ../security.scripts=true      | pipeset.security.scripts is true, and pipeset.clients.a is set | pipeset.clients.<name>.scripts
					""")
	void aClientThatCannotStandFailsTheStartByItsPropertyAndWithoutItsValue(String properties, String problem,
			String remedy) {
		String[] arguments = Arrays.stream(properties.split(" +", -1))
			.map((property) -> "--pipeset.clients." + property.replace("HASH", HASH))
			.map((property) -> property.replace("clients.../", ""))
			.toArray(String[]::new);
		assertThat(failure(arguments)).contains(problem, remedy).doesNotContain("a-key").doesNotContain(HASH);
	}

	/** By HTTP/2 slow readers would have no bound. */
	@Test
	void http2FailsTheStart() {
		assertThat(failure("--server.http2.enabled=true")).contains("'server.http2.enabled'", "HTTP/1.1",
				"let a proxy in front of the service speak HTTP/2");
	}

	/** The analysis of a failed start, in which no stack trace is. */
	private static String failure(String... arguments) {
		QuietLog.expect("APPLICATION FAILED TO START");
		int before = QuietLog.heard().size();
		SpringApplicationBuilder application = new SpringApplicationBuilder(PipesetApplication.class)
			.registerShutdownHook(false);
		assertThatException().isThrownBy(
				() -> application
					.run(Stream.concat(Stream.of("--server.port=0", "--pipeset.embedded-redis.enabled=false"),
							Arrays.stream(arguments))
						.toArray(String[]::new))
					.close());
		assertThat(QuietLog.heard().subList(before, QuietLog.heard().size())).hasSize(1);
		String analysis = String.valueOf(QuietLog.heard().get(before));
		assertThat(analysis).contains("APPLICATION FAILED TO START").doesNotContain("Exception");
		return analysis;
	}

}
