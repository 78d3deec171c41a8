package io.pipeset.web.access;

import java.io.IOException;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The console of a service with clients: its files need no key, but its calls need one.
 */
@ClientTest
class ConsoleKeyTests {

	private final Service service;

	ConsoleKeyTests(Service service) {
		this.service = service;
	}

	@ParameterizedTest
	@ValueSource(strings = { "/console/", "/console/console.js", "/console/settings.json" })
	void aFileNeedsNoKey(String path) {
		assertThat(this.service.as(null).get(path).status()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/console/../v1/jobs", "/console/%2e%2e/v1/jobs", "/console/..;/v1/jobs",
			"/console;/../v1/jobs", "/console/..%2fv1/jobs", "/console\\..\\v1\\jobs", "/consoles", "/CONSOLE/" })
	void noSpellingOfItsPathOpensAnother(String path) throws IOException {
		try (Wire wire = Wire.open(this.service, "GET " + path + " HTTP/1.1", "Host: localhost", "Connection: close")) {
			assertThat(wire.answer().status()).isIn(400, 401, 404);
		}
	}

	@Test
	void onlyReadingNeedsNoKey() {
		this.service.as(null).post("/console/").refusal(401, "unauthorized");
	}

	@Test
	void thePageAsksForAKeyAndForgetsIt(Browser browser) {
		browser.visit(this.service, "/#/jobs");
		browser.await("#key[open]");
		assertThat(browser.barriers()).isEmpty();
		browser.picture("console-key", 1200, 480);
		browser.type("#key input", "wrong");
		browser.clickText("Use this key");
		browser.awaitSaid("No client has the key that you entered.");
		browser.type("#key input", ClientTest.BILLING);
		browser.clickText("Use this key");
		browser.awaitSaid("Jobs", "State");
		browser.clickText("The same with curl");
		browser.awaitSaid("-H \"Authorization: Bearer $KEY\"");
		assertThat(browser.text()).doesNotContain(ClientTest.BILLING);
		browser.awaitSaid(TestRedis.shared().port() + "/0", "Pipeset ");
		assertThat(browser.all("footer a")).as("a link, which would send no key").noneMatch(WebElement::isDisplayed);
		assertThat(browser.run("return JSON.stringify(localStorage) + document.cookie")).isEqualTo("{}");
		browser.awaitText("Forget the key").click();
		browser.await("#key[open]");
	}

	@Test
	void aLateAnswerDoesNotAskForTheKeyAgain(Browser browser) {
		browser.visit(this.service, "/#/jobs");
		browser.await("#key[open]");
		browser
			.run("""
					const real = fetch;
					window.fetch = async (url, asked) => {
						const answer = await real(url, asked);
						if (answer.status === 401) {
							await new Promise((release) => window.release = release);
						}
						return answer;
					};
					import('./service.js').then(({ json }) => json('GET', 'v1/jobs?limit=1')).then(() => window.answered = true);""");
		browser.until("Boolean(window.release)");
		browser.type("#key input", ClientTest.BILLING);
		browser.clickText("Use this key");
		browser.until("sessionStorage.getItem('pipeset.key') !== null");
		browser.run("release()");
		browser.until("Boolean(window.answered)");
		assertThat(browser.all("#key[open]")).isEmpty();
	}

	@Test
	void aClientThatMayNotTuneReadsWhyAndStillSeesTheService(Browser browser) {
		browser.visit(this.service, "/#/tune");
		browser.type("#key input", ClientTest.ORDERS);
		browser.clickText("Use this key");
		browser.awaitSaid("No tuning has run yet.");
		browser.click("#tune");
		browser.awaitSaid("pipeset.clients.orders.tunings");
		browser.clickText("Service");
		browser.awaitSaid("up", "Connections", "Memory for jobs");
	}

	@Test
	void aClientThatMayNotAnalyseOrSweepReadsWhy(Browser browser) {
		this.service.post("/v1/jobs?op=SET", Service.NDJSON, "{\"key\":\"looked:1\",\"value\":\"x\"}\n").report();
		browser.visit(this.service, "/#/keyspace");
		browser.type("#key input", ClientTest.ORDERS);
		browser.clickText("Use this key");
		browser.click("#analyse");
		browser.awaitSaid("pipeset.clients.orders.analyses");
		browser.awaitText("Forget the key").click();
		browser.type("#key input", ClientTest.ANALYST);
		browser.clickText("Use this key");
		browser.type("#field-match", "looked:*");
		browser.click("#analyse");
		browser.clickText("looked:");
		browser.click("#count");
		browser.awaitSaid("pipeset.clients.analyst.operations");
		assertThat(browser.all("#unlink, #expire")).isEmpty();
	}

}
