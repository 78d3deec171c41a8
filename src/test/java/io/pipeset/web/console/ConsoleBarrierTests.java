package io.pipeset.web.console;

import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The accessibility checker axe finds no barrier in any page of the console, in the light
 * and in the dark theme.
 */
@ServiceTest
class ConsoleBarrierTests extends ConsolePages {

	ConsoleBarrierTests(Service service, Browser browser) {
		super(service, browser);
	}

	@Test
	void thePageLoadHasNone(TestReporter reporter) {
		this.browser.visit(this.service, "");
		this.browser.awaitSaid("Drop a file here");
		reporter.publishEntry("paint", String.valueOf(this.browser.run("""
				return performance.getEntriesByType('paint')
					.map(({ name, startTime }) => `${name}: ${Math.round(startTime)} ms`).join(', ')""")));
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.clickText("or paste records");
		this.browser.type("#text", "sid,name,price\n17,Ada,4.50\n18\n");
		this.browser.awaitSaid("HSET record:17", "MALFORMED");
		this.browser.clickText("Settings");
		this.browser.clickText("The same with curl");
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.type("#field-key", "{nothing}");
		this.browser.awaitSaid("the header has no column 'nothing'");
		assertThat(this.browser.barriers()).isEmpty();
	}

	@Test
	void thePagesOfJobsHaveNone() {
		String failed = this.service.ndjson("/v1/jobs", "[\"SET\",\"a\",\"1\"]", "[\"SET\",\"a\"]")
			.report()
			.get("jobId")
			.asString();
		this.browser.visit(this.service, "");
		// Show few jobs only, because other tests have left many.
		this.browser.run("""
				const real = fetch;
				window.fetch = (url, asked) => real(url.replace('limit=100', 'limit=5'), asked);""");
		this.browser.clickText("Jobs");
		this.browser.awaitSaid("Mixed job");
		this.browser.clickText("The same with curl");
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.go("#/jobs/" + failed);
		this.browser.awaitSaid("1 record did not run", "MALFORMED", "Settings in effect");
		this.browser.clickText("The report as JSON");
		assertThat(this.browser.barriers()).isEmpty();
	}

	@Test
	void theRunningJobAndThePageServiceHaveNone() throws Exception {
		this.service.begin("a");
		this.browser.visit(this.service, "/#/service");
		this.browser.awaitSaid("1 of 64", "SET job");
		this.browser.clickText("The same with curl");
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.clickText("SET job");
		this.browser.awaitSaid("Cancel the job", "Records per second");
		this.browser.clickText("The same with curl");
		assertThat(this.browser.barriers()).isEmpty();
	}

	@Test
	void thePageKeyspaceHasNone() {
		this.service.ndjson("/v1/jobs", "[\"SET\",\"a:1\",\"1\"]", "[\"HSET\",\"b:1\",\"f\",\"1\"]").report();
		this.browser.visit(this.service, "/#/keyspace");
		this.browser.clickText("Settings");
		this.browser.clickText("The same with curl");
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.click("#analyse");
		this.browser.awaitSaid("prefixes", "Largest keys");
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.clickText("a:");
		this.browser.click("#count");
		this.browser.awaitSaid("1 key matches a:*");
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.click("#expire");
		this.browser.awaitSaid("Type a: to confirm");
		assertThat(this.browser.barriers()).isEmpty();
	}

	@Test
	void thePagesOfTuningsHaveNone() {
		this.browser.visit(this.service, "/#/tune?records=1000&runs=1&batchSizes=100,1000");
		this.browser.clickText("The same with curl");
		this.browser.awaitSaid("/v1/tunings?records=1000");
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.click("#tune");
		this.browser.awaitSaid("Recommended", "All rows, the fastest first");
		this.browser.clickText("The same with curl");
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.click("#use");
		this.browser.awaitSaid("The next load uses");
		assertThat(this.browser.barriers()).isEmpty();
	}

}
