package io.pipeset.web.access;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Set;

import io.pipeset.request.ClientsProperties;
import io.pipeset.request.RefusedAccessException;
import io.pipeset.request.RefusedAccessFailureAnalyzer;
import io.pipeset.request.SecurityProperties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.support.StaticApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The service listens only at loopback addresses, unless a property allows others.
 */
class ExposedAddressTests {

	@ParameterizedTest
	@ValueSource(strings = { "0.0.0.0", "::", "10.0.0.1", "192.0.2.7", "2001:db8::1" })
	void anAddressThatOtherMachinesReachIsRefused(String address) throws UnknownHostException {
		assertThatExceptionOfType(RefusedAccessException.class).isThrownBy(() -> listen(false, address))
			.withMessageContaining(InetAddress.getAllByName(address)[0].getHostAddress())
			.satisfies((exception) -> {
				FailureAnalysis analysis = new RefusedAccessFailureAnalyzer().analyze(exception);
				assertThat(analysis).isNotNull();
				assertThat(analysis.getAction()).contains("server.address=127.0.0.1")
					.contains("pipeset.security.anonymous=true");
			});
		assertThatNoException().isThrownBy(() -> listen(true, address));
	}

	@Test
	void aMissingAddressMeansEveryAddress() {
		assertThatExceptionOfType(RefusedAccessException.class).isThrownBy(() -> listen(false, null))
			.withMessageContaining("server.address is not set");
		assertThatNoException().isThrownBy(() -> listen(true, null));
	}

	@ParameterizedTest
	@ValueSource(strings = { "127.0.0.1", "127.1.2.3", "::1" })
	void loopbackIsAlwaysAccepted(String address) {
		assertThatNoException().isThrownBy(() -> listen(false, address));
	}

	private static void listen(boolean anonymous, String address) throws UnknownHostException {
		WebServerFactoryCustomizer<TomcatServletWebServerFactory> customizer = new ExposedAddressConfiguration()
			.loopbackOnly(new SecurityProperties(false, anonymous, Set.of()), new ClientsProperties(Map.of()),
					new StaticApplicationContext());
		TomcatServletWebServerFactory factory = new TomcatServletWebServerFactory();
		if (address != null) {
			factory.setAddress(InetAddress.getAllByName(address)[0]);
		}
		customizer.customize(factory);
	}

}
