package io.pipeset.web.console;

import java.io.IOException;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/** The page Service, in a browser. */
@ServiceTest
class ConsoleStatusTests {

	private final Service service;

	ConsoleStatusTests(Service service) {
		this.service = service;
	}

	@Test
	void thePageShowsTheCurrentState(Browser browser) throws IOException {
		TestRedis redis = TestRedis.shared();
		browser.visit(this.service, "/#/service");
		browser.awaitSaid("up", "No job is running or queued.", redis.host() + ":" + redis.port(), "of 16",
				"of 32.0 MB", "64 callers may wait");
		assertThat(browser.run("return document.querySelectorAll('.servers th').length")).as("no slots").isEqualTo(3L);
		try (Wire wire = this.service.begin("a"); Wire other = this.service.begin("b")) {
			browser.awaitSaid("2 of 64", "SET job");
			// The list comes from another call.
			browser.until("document.querySelectorAll('.jobs tbody tr').length === 2");
			browser.picture("console-service", 1200, 800);
			browser.dark(true);
			browser.picture("console-service-dark", 1200, 800);
			browser.dark(false);
			browser.phone(true);
			assertThat(browser.overflow()).as("pixels of the page beyond the screen").isZero();
			browser.picture("console-service-phone");
			browser.phone(false);
			wire.lastChunk().answer().report();
			other.lastChunk().answer().report();
		}
		browser.awaitSaid("No job is running or queued.", "0 of 64");
		for (int i = 0; i < 22; i++) {
			this.service.begin("c" + i);
		}
		browser.run("""
				window.real = fetch;
				window.fetch = (url, asked) => real(url.replace('actuator/health', 'nothing'), asked)""");
		browser.awaitSaid("22 of 64", "The list has the newest 20 running and the newest 20 queued jobs, of 22 and 0",
				"Actuator is not at this port");
		browser.until("document.querySelectorAll('.jobs tbody tr').length === 20");
		assertThat(browser.all(".title .badge")).noneMatch(WebElement::isDisplayed);
		browser.clickText("Cancel");
		browser.awaitSaid("21 of 64", "Actuator is not at this port");
		// The page does not ask again for what is not there.
		browser.run("window.fetch = real");
		browser.clickText("Jobs");
		browser.awaitSaid("Label or ID");
		browser.clickText("Service");
		browser.awaitSaid("up");
		browser.awaitUnsaid("Actuator is not at this port");
		browser.cutOff(true);
		browser.awaitSaid("The service does not answer.");
		browser.cutOff(false);
		browser.awaitUnsaid("does not answer");
	}

}
