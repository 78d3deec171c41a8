package io.pipeset.web.console;

import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A service without the console. */
@ServiceTest(properties = "pipeset.console.enabled=false")
class ConsoleDisabledTests {

	private final Service service;

	ConsoleDisabledTests(Service service) {
		this.service = service;
	}

	@ParameterizedTest
	@ValueSource(strings = { "/console", "/console/", "/console/index.html", "/console/console.js" })
	void noPathOfTheConsoleExists(String path) {
		this.service.get(path).refusal(404, "not-found");
	}

	@Test
	void theStartPageHasNoLinkToIt() {
		assertThat(this.service.send(this.service.request("/").header("Accept", "text/html").GET()).text())
			.contains("v3/api-docs")
			.doesNotContain("console");
	}

}
