package io.pipeset.web.access;

import java.util.Set;

import io.pipeset.request.SecurityProperties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** The service allows its own hosts only, and only their web pages may call it. */
class AllowedHostsTests {

	private static final AllowedHosts local = hosts(false);

	private static final AllowedHosts named = hosts(false, "Pipeset.Test", "[FD00::1]");

	private static final AllowedHosts exposed = hosts(true);

	private static final AllowedHosts exposedByName = hosts(true, "pipeset");

	@ParameterizedTest
	@ValueSource(strings = { "localhost", "localhost:8080", "LocalHost:8080", "localhost.", "localhost.:80",
			"localhost:", "127.0.0.1", "127.0.0.1:8080", "127.255.1.3", "[::1]", "[::1]:8080", "[0:0:0:0:0:0:0:1]:1" })
	void loopbackIsAlwaysAllowed(String host) {
		for (AllowedHosts hosts : new AllowedHosts[] { local, named, exposed, exposedByName }) {
			assertThat(hosts.isAllowedHost(host)).isTrue();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "evil.example", "evil.example:8080", "localhost.evil.example", "evil.localhost",
			"127.0.0.1.evil.example", "127.0.0.1.5", "1127.0.0.1", "128.0.0.1", "10.0.0.1:8080", "0.0.0.0:8080", "0",
			"127.1", "2130706433", "[::2]", "[::]", "[::1", "::1", "[::1]evil", "localhost:80:80", "localhost:x",
			"localhost/", "user@localhost", "localhost, evil.example", " localhost", "localhost ", "", ".", ":8080",
			"localhos\u0442", "\u017focalhost" })
	void otherHostsAreForeign(String host) {
		assertThat(local.isAllowedHost(host)).isFalse();
		assertThat(named.isAllowedHost(host)).isFalse();
		assertThat(exposed.isAllowedHost(host)).isTrue();
	}

	@Test
	void aRequestWithoutHostIsForeign() {
		assertThat(local.isAllowedHost(null)).isFalse();
		assertThat(exposed.isAllowedHost(null)).isTrue();
		assertThat(exposedByName.isAllowedHost(null)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "pipeset.test", "PIPESET.test:8080", "pipeset.test.", "[fd00::1]:80" })
	void listedHostsAreAllowed(String host) {
		assertThat(named.isAllowedHost(host)).isTrue();
		assertThat(local.isAllowedHost(host)).isFalse();
		assertThat(named.isAllowedOrigin("https://" + host, "localhost")).isTrue();
		assertThat(local.isAllowedOrigin("https://" + host, "localhost")).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "pipeset, true", "pipeset:8080, true", "10.1.2.3:8080, true", "[fe80::1]:8080, true",
			"pipeset.evil.example, false", "evil.example, false", "10.1.2.3.evil.example, false" })
	void anExposedServiceWithListedNamesHasNoOtherName(String host, boolean allowed) {
		assertThat(exposedByName.isAllowedHost(host)).isEqualTo(allowed);
	}

	@ParameterizedTest
	@ValueSource(strings = { "http://localhost", "https://localhost:8443", "http://127.0.0.1:3000", "http://[::1]:3000",
			"HTTP://LOCALHOST:3000" })
	void pagesOfThisMachineMayCall(String origin) {
		assertThat(local.isAllowedOrigin(origin, "127.0.0.1:8080")).isTrue();
		assertThat(exposed.isAllowedOrigin(origin, null)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "null", "", "http://evil.example", "http://evil.example:8080", "https://localhost.evil.example",
					"http://127.0.0.1.evil.example", "http://localhost@evil.example", "http://evil.example/localhost",
					"http://localhost/", "http://localhost http://evil.example", "file://", "localhost", "//localhost",
					"chrome-extension://localhost", "ftp://localhost", "http://", "http://0.0.0.0" })
	void pagesOfOtherHostsMayNeverCall(String origin) {
		for (AllowedHosts hosts : new AllowedHosts[] { local, named, exposed, exposedByName }) {
			assertThat(hosts.isAllowedOrigin(origin, "localhost:8080")).isFalse();
		}
		assertThat(exposed.isAllowedOrigin(origin, null)).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "http://pipeset, pipeset, true", "https://pipeset:8443, PIPESET.:8080, true",
			"http://10.1.2.3, 10.1.2.3:8080, true", "http://pipeset, other, false", "http://pipeset, , false" })
	void pagesOfTheServicesOwnHostMayCall(String origin, String host, boolean may) {
		assertThat(exposed.isAllowedOrigin(origin, host)).isEqualTo(may);
	}

	@ParameterizedTest
	@ValueSource(strings = { "http://pipeset.test", "pipeset.test:8080", "*.test", "pipeset/", "", "fd00::1", "a b",
			"pipeset.test." })
	void aListedHostIsOnlyANameOrAnAddress(String host) {
		assertThatIllegalArgumentException().isThrownBy(() -> hosts(false, host))
			.withMessageContaining("pipeset.security.allowed-hosts")
			.withMessageContaining("'" + host + "'");
	}

	private static AllowedHosts hosts(boolean anonymous, String... allowed) {
		return new AllowedHosts(anonymous, new SecurityProperties(false, anonymous, Set.of(allowed)).allowedHosts());
	}

}
