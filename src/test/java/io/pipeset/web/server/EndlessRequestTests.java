package io.pipeset.web.server;

import java.io.IOException;

import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.env.Environment;

import static org.assertj.core.api.Assertions.assertThat;

/** Both ports answer requests of the maximum length like any other request. */
@ServiceTest(properties = { "management.server.port=0", "management.server.address=127.0.0.1" })
class EndlessRequestTests {

	/** Together with a few headers they fit into the 8 KB that the web server reads. */
	private static final int BYTES = 7600;

	private final Service[] servers;

	EndlessRequestTests(Service service, @Autowired Environment environment) {
		this.servers = new Service[] { service,
				new Service(environment.getRequiredProperty("local.management.port", Integer.class)) };
	}

	@ParameterizedTest
	@ValueSource(strings = { "/a", "/", ".a", "a", "a.", "-", "%61/", ";a", "/%2e" })
	void noPathIsTooDeep(String piece) throws IOException {
		for (String base : new String[] { "", "/actuator", "/actuator/health", "/actuator/metrics/a", "/v1/jobs",
				"/listinput/a", "/pipeset" }) {
			String path = base + "/" + piece.repeat((BYTES - base.length()) / piece.length());
			for (String method : new String[] { "GET", "POST" }) {
				assertForeignHostRefused(method + " " + path, "A: a");
				for (Service server : this.servers) {
					try (Wire wire = open(server, method + " " + path, "localhost", "A: a")) {
						assertThat(wire.answer().status()).as("%s %s", method, base).isLessThan(500);
					}
				}
			}
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "Prefer: \"\\a", "Accept: a/b,", "Accept: text/csv;a=b;", "Content-Type: a/b;c=d;",
			"Origin: http://a.", "Origin: http://1.", "Content-Encoding: gzip,", "Cookie: a=b;",
			"Accept-Language: en," })
	void noHeaderIsTooLong(String header) throws IOException {
		String[] parts = header.split(" ", 2);
		String endless = parts[0] + " " + parts[1].repeat(BYTES / parts[1].length());
		for (String call : new String[] { "GET /actuator/health", "GET /actuator/metrics/a", "POST /v1/jobs",
				"POST /v1/analyses?a=b" }) {
			assertForeignHostRefused(call, endless);
			for (Service server : this.servers) {
				try (Wire wire = open(server, call, "localhost", endless)) {
					assertThat(wire.answer().status()).as(call).isLessThan(500);
				}
			}
		}
	}

	private void assertForeignHostRefused(String call, String header) throws IOException {
		for (Service server : this.servers) {
			try (Wire wire = open(server, call, "evil.example", header)) {
				assertThat(wire.answer().status()).isIn(400, 403);
			}
		}
	}

	private static Wire open(Service server, String call, String host, String header) throws IOException {
		return Wire.open(server, call + " HTTP/1.1", "Host: " + host, header, "Content-Length: 0", "Connection: close");
	}

}
