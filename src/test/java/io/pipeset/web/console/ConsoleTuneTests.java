package io.pipeset.web.console;

import java.time.Duration;
import java.util.List;

import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.WebElement;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The page Tune, in a browser: from the grid to the settings of the next load. */
@ServiceTest
class ConsoleTuneTests extends ConsolePages {

	/** A tuning of many seconds, because each batch waits for its answer. */
	private static final String LONG = "?records=2000&batchSizes=1,2&flushes=close,each&concurrencies=1,2&runs=10"
			+ "&budget=10m";

	private static final String USED = "The next load uses the settings of the tuning: Records per batch: 200,"
			+ " Flush: close, Connections at once: 1.";

	ConsoleTuneTests(Service service, Browser browser) {
		super(service, browser);
	}

	@Test
	void theRecommendationOfATuningIsUsedByTheNextLoads() {
		this.browser.visit(this.service, "/#/tune");
		this.browser.awaitSaid(
				"12 rows, 3 runs of each: about 4,300,000 commands and 463 MB to Redis. No run starts after 30s");
		this.browser.picture("console-tune", 1200, 900);
		this.browser.type("#field-records", "1000");
		this.browser.type("#field-batchSizes", "100,1000,10000");
		this.browser.type("#field-budget", "5m");
		this.browser.awaitSaid("12 rows, 3 runs of each: about 43,000 commands");
		this.browser.clickText("The same with curl");
		this.browser.awaitSaid("-X POST -H 'Prefer: respond-async'",
				"/v1/tunings?records=1000&batchSizes=100,1000,10000&budget=5m'");
		this.browser.click("#tune");
		this.browser.awaitSaid("completed", "Recommended", "Records per second", "All rows, the fastest first");
		JsonNode tuning = job();
		JsonNode best = tuning.get("recommended");
		String words = "Records per batch: %d, Flush: %s, Connections at once: %d"
			.formatted(best.get("batchSize").asInt(), best.get("flush").asString(), best.get("concurrency").asInt());
		assertThat(this.browser.all(".heat tbody td")).hasSize(8);
		assertThat(this.browser.all(".heat td.none")).as("rows that are the same as others").hasSize(2);
		assertThat(this.browser.all(".heat caption")).extracting(WebElement::getText)
			.containsExactly("1 connection", "2 connections");
		assertThat(this.browser.all(".heat td.best")).singleElement()
			.satisfies((cell) -> assertThat(cell.getDomAttribute("title")).startsWith(words + ": ")
				.endsWith(" in 3 runs, recommended"));
		assertThat(this.browser.run("return [...document.querySelectorAll('.rows tbody tr')].map((row) =>"
				+ " Number(row.cells[3].textContent.replaceAll(',', '')))"))
			.as("the rows, the fastest first")
			.isEqualTo(tuning.get("rows")
				.valueStream()
				.map((row) -> row.get("recordsPerSecond").asLong())
				.sorted((a, b) -> Long.compare(b, a))
				.toList());
		this.browser.awaitSaid(words, tuning.get("because").asString(), "one by one", "times as fast");
		this.browser.picture("console-tuned", 1200, 1000);
		this.browser.click("#use");
		this.browser.awaitSaid("The next load uses the settings of the tuning: " + words + ".");
		this.browser.run("location.reload()");
		this.browser.clickText("or paste records");
		this.browser.type("#text", "sid,name\n17,Ada\n");
		this.browser.awaitSaid("SET record:17 Ada");
		assertThat(this.browser.await("#field-batchSize").getDomProperty("value"))
			.isEqualTo(best.get("batchSize").asString());
		this.browser.click("#go");
		this.browser.awaitSaid("Its one record ran.");
		JsonNode settings = job().get("settings");
		for (String name : List.of("batchSize", "flush", "concurrency")) {
			assertThat(settings.get(name)).isEqualTo(best.get(name));
		}
	}

	@Test
	void fixedRecordsUseTheSettingsOfATuningUntilTheyAreRemoved() {
		String id = this.service
			.post("/v1/tunings?records=1000&runs=1&batchSizes=100,200&flushes=close&concurrencies=1")
			.json()
			.get("tuningId")
			.asString();
		this.browser.visit(this.service, "");
		this.browser.clickText("or paste records");
		this.browser.type("#text", "sid,name\n17,Ada\n18\n");
		this.browser.awaitSaid("SET record:17 Ada");
		this.browser.click("#go");
		this.browser.awaitSaid("1 record did not run");
		String job = String.valueOf(this.browser.run("return location.hash"));
		this.browser.go("#/jobs/" + id);
		this.browser.click("[aria-label='Use Records per batch: 200, Flush: close, Connections at once: 1']");
		this.browser.awaitSaid(USED);
		this.browser.go(job);
		this.browser.awaitSaid("1 record did not run");
		this.browser.clickText("The same with curl");
		this.browser.awaitSaid("/v1/jobs?batchSize=200&flush=close&concurrency=1'");
		this.browser.click("#fix");
		this.browser.awaitSaid("Fix the rows above", USED);
		this.browser.type("#field-batchSize", "300");
		this.browser.clickText("Remove them");
		this.browser.awaitUnsaid("The next load uses");
		assertThat(this.browser.await("#field-batchSize").getDomProperty("value")).as("typed since").isEqualTo("300");
		assertThat(this.browser.await("#field-flush").getDomProperty("value")).isEmpty();
		this.browser.go("#/jobs/" + id);
		this.browser.clickText("Tune again");
		assertThat(this.browser.await("#field-batchSizes").getDomProperty("value")).isEqualTo("100,200");
		assertThat(this.browser.await("#field-op").getDomProperty("value")).isEmpty();
		this.browser.awaitSaid("2 rows, 1 run of each: about 5,000 commands");
	}

	@Test
	void aTuningIsFollowedRunsAloneAndIsCancelled() {
		this.browser.visit(this.service, "/#/tune" + LONG);
		this.browser.click("#tune");
		this.browser.awaitSaid("running", " of 90 runs");
		String page = String.valueOf(this.browser.run("return location.hash"));
		await().atMost(Duration.ofMinutes(2)).until(() -> job().at("/progress/done").asLong() > 2);
		this.browser.clickText("Tune");
		this.browser.awaitSaid("Tuning", "running");
		this.browser.click("#tune");
		this.browser.awaitSaid("Another tuning runs");
		this.browser.go(page);
		this.browser.click("#cancel");
		this.browser.awaitSaid("cancelled", "The job was cancelled by DELETE", "Recommended so far");
		assertThat(this.browser.all(".heat tbody td")).hasSize(8);
	}

	@Test
	void aMistakeIsExplained() {
		this.browser.visit(this.service, "/#/tune");
		this.browser.type("#field-batchSizes", "7,seven");
		this.browser.click("#tune");
		this.browser.awaitSaid(
				"'batchSizes' must be a comma-separated list, each entry a whole number from 1 to 100000, not '7,seven'");
		this.browser.type("#field-batchSizes", "7");
		this.browser.type("#field-records", "999");
		this.browser.click("#tune");
		assertThat(this.browser.run("return document.querySelector('#field-records').validity.rangeUnderflow"))
			.isEqualTo(true);
	}

	@Test
	void theMapFitsPhonesAndTheDarkTheme() {
		this.browser.phone(true);
		try {
			this.browser.visit(this.service, "/#/tune?records=1000&batchSizes=10,100,1000&runs=2");
			this.browser.click("#tune");
			this.browser.awaitSaid("Recommended", "All rows, the fastest first");
			assertThat(this.browser.overflow()).as("pixels of the page beyond the screen").isZero();
			this.browser.picture("console-tuned-phone");
			this.browser.dark(true);
			this.browser.picture("console-tuned-phone-dark");
		}
		finally {
			this.browser.dark(false);
			this.browser.phone(false);
		}
	}

}
