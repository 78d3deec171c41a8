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
					a.key-sha256=E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 | pipeset.clients.a.key-sha256 has the SHA-256 of an empty key | openssl rand -hex 32
					orders.certificate=CN=orders\\0A                | pipeset.clients.orders.certificate must have printable ASCII characters only | key-sha256
					orders.certificate=CN=orders\\00                | pipeset.clients.orders.certificate must have printable ASCII characters only | key-sha256
					orders.key-sha256=                              | pipeset.clients.orders.key-sha256 is missing | openssl rand -hex 32
					orders.scripts=true                             | pipeset.clients.orders.key-sha256 is missing | openssl rand -hex 32
					Orders_1.key-sha256=HASH                        | names a client 'Orders_1' | 1 to 32 lowercase letters
					none.key-sha256=HASH                            | names a client 'none' | none and service are reserved
					service.key-sha256=HASH                         | names a client 'service' | none and service are reserved
					a.key-sha256=HASH b.key-sha256=HASH             | pipeset.clients.b.key-sha256 has a value that is already in pipeset.clients.a.key-sha256 | keys of its own
					orders.certificate=orders                       | pipeset.clients.orders.certificate must be the subject of the client's certificate, such as CN=orders,O=Example, not 'orders' | -nameopt RFC2253
					orders.certificate=                             | pipeset.clients.orders.certificate is empty | leave the property out
					a.certificate=CN=x,O=y b.certificate=cn=X,o=Y   | pipeset.clients.b.certificate is 'cn=X,o=Y', and pipeset.clients.a.certificate is the same subject | a subject of its own
					a.certificate=CN=x a.key-sha256=HASH            | pipeset.clients.a.certificate is set, and server.ssl.client-auth is not want or need | Set server.ssl.bundle and server.ssl.client-auth=want
					a.key-sha256=HASH a.key-prefixes=a:,pipeset:b   | pipeset.clients.a.key-prefixes must be | Leave key-prefixes out
					a.key-sha256=HASH a.callbacks=hooks.example     | Each value of pipeset.clients.a.callbacks must be | such as https://hooks.example/
					a.key-sha256=HASH ../callbacks.allowed=https://a | pipeset.callbacks.allowed is set, and pipeset.callbacks.secret is not | openssl rand -base64 32
					a.key-sha256=HASH ../callbacks.secret=whsec_a-key | pipeset.callbacks.secret has a value that is not whsec_ | openssl rand -base64 32
					a.key-sha256=HASH a.limits.max-jobs=0           | pipeset.clients.a.limits.max-jobs must be 1 or more, not 0 | Leave it out
					a.key-sha256=HASH a.limits.rate-limit=-1        | pipeset.clients.a.limits.rate-limit must be 1 to 1000000000 records per second, not -1 | Leave it out
					a.key-sha256=HASH a.limits.rate-limit=1000000001 | pipeset.clients.a.limits.rate-limit must be 1 to 1000000000 records per second, not 1000000001 | Leave it out
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

	/** Whoever has a certificate of a public authority would be known by its name. */
	@ParameterizedTest
	@CsvSource({ "server.ssl, server.ssl.bundle=own",
			"the bundle 'own' of server.ssl, server.ssl.bundle=trusting --server.ssl.server-name-bundles[0].bundle=own"
					+ " --server.ssl.server-name-bundles[0].server-name=a" })
	void aCertificateOfAnyAuthorityFailsTheStart(String place, String bundle) {
		String own = "--spring.ssl.bundle.pem.own.keystore.";
		String trusting = "--spring.ssl.bundle.pem.trusting.";
		String[] arguments = ("--pipeset.clients.a.certificate=CN=a --server.ssl.client-auth=need --" + bundle + " "
				+ own + "certificate=classpath:tls/redis.crt " + own + "private-key=classpath:tls/redis.key " + trusting
				+ "keystore.certificate=classpath:tls/redis.crt " + trusting
				+ "keystore.private-key=classpath:tls/redis.key " + trusting
				+ "truststore.certificate=classpath:tls/redis.crt")
			.split(" ", -1);
		assertThat(failure(arguments)).contains(
				"pipeset.clients.a.certificate is set, and " + place + " has no truststore", "truststore.certificate");
	}

	@Test
	void aCertificateOfAnyAuthorityFailsTheStartOfActuatorToo() {
		String bundle = "--spring.ssl.bundle.pem.";
		String[] arguments = ("--pipeset.clients.a.certificate=CN=a --server.ssl.client-auth=need --server.ssl.bundle=x "
				+ "--management.server.port=0 --management.server.ssl.bundle=y --management.server.ssl.client-auth=want "
				+ bundle + "x.keystore.certificate=classpath:tls/redis.crt " + bundle
				+ "x.keystore.private-key=classpath:tls/redis.key " + bundle
				+ "x.truststore.certificate=classpath:tls/redis.crt " + bundle
				+ "y.keystore.certificate=classpath:tls/redis.crt " + bundle
				+ "y.keystore.private-key=classpath:tls/redis.key")
			.split(" ", -1);
		assertThat(failure(arguments)).contains("management.server.ssl has no truststore", "truststore.certificate");
	}

	/** What is below them is open to everybody. */
	@ParameterizedTest
	@CsvSource({ "management.endpoints.web.base-path, /console/actuator, ''",
			"management.endpoints.web.base-path, /console, ''",
			"management.endpoints.web.path-mapping.prometheus, console/metrics, management.endpoints.web.base-path=/",
			"management.server.base-path, /console, management.server.port=0",
			"spring.mvc.servlet.path, /console, ''" })
	void callsBelowAnOpenPathFailTheStart(String property, String path, String further) {
		assertThat(failure("--" + property + "=" + path, "--management.server.address=127.0.0.1", "--" + further))
			.contains(property + " moves calls that need a key to /" + path.replaceFirst("^/", "") + ",",
					"Choose a path that is not below /console.");
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
