package io.pipeset.web.console;

import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A service without the console. */
@ServiceTest(properties = "pipeset.console.enabled=false")
class ConsoleDisabledTests {

	private final Service service;

	ConsoleDisabledTests(Service service) {
		this.service = service;
	}

	@ParameterizedTest
	@ValueSource(strings = { "/console", "/console/", "/console/index.html", "/console/console.js" })
	void thereIsNothing(String path) {
		this.service.get(path).refusal(404, "not-found");
	}

}
