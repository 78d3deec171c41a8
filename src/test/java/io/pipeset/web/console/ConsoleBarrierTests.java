package io.pipeset.web.console;

import java.nio.file.Path;

import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No page of the console keeps anybody out, in the light or in the dark, as far as axe
 * can tell.
 */
@ServiceTest
class ConsoleBarrierTests {

	@TempDir
	private static Path folder;

	private static Browser browser;

	private final Service service;

	ConsoleBarrierTests(Service service) {
		this.service = service;
	}

	@BeforeAll
	static void openBrowser() {
		browser = Browser.open(folder);
	}

	@AfterAll
	static void closeBrowser() {
		if (browser != null) {
			browser.close();
		}
	}

	@Test
	void thePageLoadHasNone(TestReporter reporter) {
		browser.visit(this.service, "");
		browser.awaitSaid("Drop a file here");
		reporter.publishEntry("paint", String.valueOf(browser.run("""
				return performance.getEntriesByType('paint')
					.map(({ name, startTime }) => `${name}: ${Math.round(startTime)} ms`).join(', ')""")));
		assertThat(browser.barriers()).isEmpty();
		browser.awaitText("or paste records").click();
		browser.type("#text", "sid,name,price\n17,Ada,4.50\n18\n");
		browser.awaitSaid("HSET record:17", "MALFORMED");
		browser.awaitText("Settings").click();
		browser.awaitText("The same with curl").click();
		assertThat(browser.barriers()).isEmpty();
		browser.type("#field-key", "{nothing}");
		browser.awaitSaid("the header has no column 'nothing'");
		assertThat(browser.barriers()).isEmpty();
	}

	@Test
	void thePagesOfJobsHaveNone() {
		String failed = this.service.ndjson("/v1/jobs", "[\"SET\",\"a\",\"1\"]", "[\"SET\",\"a\"]")
			.report()
			.get("jobId")
			.asString();
		browser.visit(this.service, "/#/jobs");
		browser.awaitSaid("Mixed job");
		browser.awaitText("The same with curl").click();
		assertThat(browser.barriers()).isEmpty();
		browser.visit(this.service, "/#/jobs/" + failed);
		browser.awaitSaid("1 record did not run", "MALFORMED", "Settings in effect");
		browser.awaitText("The report as JSON").click();
		assertThat(browser.barriers()).isEmpty();
	}

	@Test
	void theRunningJobAndThePageServiceHaveNone() throws Exception {
		this.service.begin("a");
		browser.visit(this.service, "/#/service");
		browser.awaitSaid("1 of 64", "SET job");
		browser.awaitText("The same with curl").click();
		assertThat(browser.barriers()).isEmpty();
		browser.awaitText("SET job").click();
		browser.awaitSaid("Cancel the job", "Records a second");
		browser.awaitText("The same with curl").click();
		assertThat(browser.barriers()).isEmpty();
	}

	@Test
	void thePagesOfTuningsHaveNone() {
		browser.visit(this.service, "/#/tune?records=1000&runs=1&batchSizes=100,1000");
		browser.awaitText("The same with curl").click();
		browser.awaitSaid("/v1/tunings?records=1000");
		assertThat(browser.barriers()).isEmpty();
		browser.await("#tune").click();
		browser.awaitSaid("Recommended", "All rows, the fastest first");
		browser.awaitText("The same with curl").click();
		assertThat(browser.barriers()).isEmpty();
		browser.await("#use").click();
		browser.awaitSaid("The next load takes");
		assertThat(browser.barriers()).isEmpty();
	}

}
