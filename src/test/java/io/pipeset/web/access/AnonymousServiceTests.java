package io.pipeset.web.access;

import java.io.IOException;

import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** An anonymous service accepts any host name, but no foreign web page. */
@ServiceTest(properties = "pipeset.security.anonymous=true")
class AnonymousServiceTests {

	private final Service service;

	AnonymousServiceTests(Service service) {
		this.service = service;
	}

	@ParameterizedTest
	@CsvSource({ "HTTP/1.1, Host: pipeset", "HTTP/1.1, Host: 10.244.0.7:8080", "HTTP/1.1, Host: [fd00::7]:8080",
			"HTTP/1.0, X-No: host", "HTTP/1.0, Host: localhost" })
	void aProbeMayUseAnyName(String version, String host) throws IOException {
		for (String path : new String[] { "/actuator/health/liveness", "/actuator/health/readiness" }) {
			try (Wire wire = Wire.open(this.service, "GET " + path + " " + version, host, "Connection: close")) {
				assertThat(wire.answer().status()).isEqualTo(200);
			}
		}
	}

	@ParameterizedTest
	@CsvSource({ "pipeset:8080, https://evil.example, 403", "pipeset:8080, null, 403",
			"pipeset:8080, http://pipeset, 200", "localhost:8080, https://evil.example, 403",
			"localhost:8080, http://localhost:3000, 200" })
	void onlyItsOwnPagesMayCall(String host, String origin, int status) throws IOException {
		try (Wire wire = Wire.open(this.service, "POST /pipeset/0 HTTP/1.1", "Host: " + host, "Origin: " + origin,
				"Content-Length: 0", "Connection: close")) {
			Answer answer = wire.answer();
			assertThat(answer.status()).as(answer.text()).isEqualTo(status);
		}
	}

}
