package io.pipeset.web.console;

import java.nio.file.Path;
import java.util.List;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.WebElement;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The page Tune, in a browser: from the grid to the settings of the next load. */
@ServiceTest
class ConsoleTuneTests {

	/** Takes many seconds, as each batch waits for its answer. */
	private static final String LONG = "?records=5000&batchSizes=1,2&flushes=close,each&concurrencies=1,2&runs=10"
			+ "&budget=10m";

	@TempDir
	private static Path folder;

	private static Browser browser;

	private final Service service;

	ConsoleTuneTests(Service service) {
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

	@AfterEach
	void nothingBreaksThePolicyOfThePages() {
		browser.assertQuiet();
	}

	@Test
	void aTuningIsAskedForAndItsRecommendationIsThatOfTheNextLoads() {
		TestRedis.shared().client().flushall();
		browser.visit(this.service, "/#/tune");
		browser.awaitSaid("12 rows, 3 runs of each: about 4,300,000 commands and 463 MB to Redis, in 30s");
		browser.picture("console-tune", 1200, 900);
		browser.type("#field-records", "5000");
		browser.type("#field-batchSizes", "100,1000,10000");
		browser.type("#field-budget", "5m");
		browser.awaitSaid("12 rows, 3 runs of each: about 215,000 commands");
		browser.awaitText("The same with curl").click();
		browser.awaitSaid("-X POST -H 'Prefer: respond-async'",
				"/v1/tunings?records=5000&batchSizes=100,1000,10000&budget=5m'");
		browser.await("#tune").click();
		browser.awaitSaid("completed", "Recommended", "Records a second", "All rows, the fastest first");
		JsonNode tuning = job();
		JsonNode best = tuning.get("recommended");
		String words = "batchSize=%d flush=%s concurrency=%d".formatted(best.get("batchSize").asInt(),
				best.get("flush").asString(), best.get("concurrency").asInt());
		assertThat(browser.all(".heat tbody td")).hasSize(12);
		assertThat(browser.all(".heat caption")).extracting(WebElement::getText).containsExactly("1 lane", "2 lanes");
		assertThat(browser.all(".heat td.best")).singleElement()
			.satisfies((cell) -> assertThat(cell.getDomAttribute("title")).startsWith(words + ": ")
				.endsWith(" in 3 runs, recommended"));
		assertThat(browser.run("return [...document.querySelectorAll('.rows tbody tr')].map((row) =>"
				+ " Number(row.cells[3].textContent.replaceAll(',', '')))"))
			.as("the rows, the fastest first")
			.isEqualTo(tuning.get("rows")
				.valueStream()
				.map((row) -> row.get("recordsPerSecond").asLong())
				.sorted((a, b) -> Long.compare(b, a))
				.toList());
		browser.awaitSaid(words, tuning.get("because").asString(), "one by one", "times as fast");
		browser.picture("console-tuned", 1200, 1000);
		browser.await("#use").click();
		browser.awaitSaid("The next load takes " + words + ", as the tuning recommends.");
		browser.run("location.reload()");
		browser.awaitText("or paste records").click();
		browser.type("#text", "sid,name\n17,Ada\n");
		browser.awaitSaid("SET record:17 Ada");
		assertThat(browser.await("#field-batchSize").getDomProperty("value"))
			.isEqualTo(best.get("batchSize").asString());
		browser.await("#go").click();
		browser.awaitSaid("Its one record ran.");
		JsonNode settings = job().get("settings");
		for (String name : List.of("batchSize", "flush", "concurrency")) {
			assertThat(settings.get(name)).isEqualTo(best.get(name));
		}
	}

	@Test
	void settingsOfATuningAreLeftOutAgain() {
		String id = this.service
			.post("/v1/tunings?records=1000&runs=1&batchSizes=100,200&flushes=close&concurrencies=1")
			.json()
			.get("tuningId")
			.asString();
		browser.visit(this.service, "/#/jobs/" + id);
		browser.awaitSaid("Recommended");
		browser.await("[aria-label='Use batchSize=200 flush=close concurrency=1']").click();
		browser.awaitSaid("The next load takes batchSize=200 flush=close concurrency=1");
		browser.awaitText("Leave them out").click();
		await().until(() -> !browser.text().contains("The next load takes"));
		browser.awaitText("or paste records").click();
		browser.type("#text", "sid,name\n17,Ada\n");
		browser.awaitSaid("SET record:17 Ada");
		browser.awaitText("Settings").click();
		assertThat(browser.await("#field-batchSize").getDomProperty("value")).isEmpty();
		browser.visit(this.service, "/#/jobs/" + id);
		browser.awaitText("Tune again").click();
		assertThat(browser.await("#field-batchSizes").getDomProperty("value")).isEqualTo("100,200");
		assertThat(browser.await("#field-op").getDomProperty("value")).isEmpty();
		browser.awaitSaid("2 rows, 1 run of each: about 5,000 commands");
	}

	@Test
	void aTuningIsFollowedIsTheOnlyOneAndIsCancelled() {
		browser.visit(this.service, "/#/tune" + LONG);
		browser.await("#tune").click();
		browser.awaitSaid("runs", " of 110 runs");
		String page = String.valueOf(browser.run("return location.hash"));
		await().until(() -> job().at("/progress/done").asLong() > 2);
		browser.awaitText("Tune").click();
		browser.awaitSaid("Tuning", "runs");
		browser.await("#tune").click();
		browser.awaitSaid("Another tuning runs");
		browser.run("location.hash = '" + page + "'");
		browser.await("#cancel").click();
		browser.awaitSaid("cancelled", "The job was cancelled by DELETE", "Recommended so far");
		assertThat(browser.all(".heat tbody td")).hasSize(8);
	}

	@Test
	void aMistakeIsASentence() {
		browser.visit(this.service, "/#/tune");
		browser.type("#field-batchSizes", "7,seven");
		browser.await("#tune").click();
		browser.awaitSaid(
				"'batchSizes' must be a list with commas, each entry a whole number from 1 to 100000, not 'seven'");
		browser.type("#field-batchSizes", "7");
		browser.type("#field-records", "999");
		browser.await("#tune").click();
		assertThat(browser.run("return document.querySelector('#field-records').validity.rangeUnderflow"))
			.isEqualTo(true);
	}

	@Test
	void theMapIsForTelephonesAndForTheDarkAsWell() {
		browser.phone(true);
		try {
			browser.visit(this.service, "/#/tune?records=1000&batchSizes=10,100,1000&runs=2");
			browser.await("#tune").click();
			browser.awaitSaid("Recommended", "All rows, the fastest first");
			assertThat(browser.overflow()).as("pixels of the page beyond the screen").isZero();
			browser.picture("console-tuned-phone");
			browser.dark(true);
			browser.picture("console-tuned-phone-dark");
		}
		finally {
			browser.dark(false);
			browser.phone(false);
		}
	}

	private JsonNode job() {
		String id = String.valueOf(browser.run("return location.hash")).replace("#/jobs/", "");
		return this.service.get("/v1/jobs/" + id).json();
	}

}
