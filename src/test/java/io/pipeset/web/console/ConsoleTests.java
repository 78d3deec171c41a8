package io.pipeset.web.console;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** The pages of the console, in a browser, with a real Redis behind them. */
@ServiceTest
class ConsoleTests {

	private static final int ROWS = 200_000;

	private static final int WRONG_LINE = 150_003;

	@TempDir
	private static Path folder;

	private static Browser browser;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ConsoleTests(Service service) {
		this.service = service;
	}

	@BeforeAll
	static void openBrowser() throws IOException {
		browser = Browser.open(Files.createDirectory(folder.resolve("downloads")));
	}

	@AfterAll
	static void closeBrowser() {
		if (browser != null) {
			browser.close();
		}
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@AfterEach
	void nothingBreaksThePolicyOfThePages() {
		browser.assertQuiet();
	}

	@Test
	void aFileWithAWrongRowIsLoadedAndTheRowFoundMendedAndLoaded() throws IOException {
		browser.visit(this.service, "");
		browser.awaitSaid("Drop a file here");
		browser.picture("console-empty", 1200, 560);
		browser.choose(products());
		browser.awaitSaid("found: CSV with commas, a row of names, 4 columns", "HSET product:100001");
		browser.picture("console-load", 1200, 1160);
		browser.await("#go").click();
		browser.awaitSaid("1 record did not run", "completed", "199,999", "MALFORMED", String.valueOf(WRONG_LINE));
		browser.picture("console-job", 1200, 1060);
		assertThat(this.redis.dbsize()).isEqualTo(ROWS - 1);
		browser.await("#save").click();
		assertThat(browser.download()).contains("\"line\":" + WRONG_LINE).hasLineCount(1);
		browser.await("#mend").click();
		browser.awaitSaid("Mend the rows above");
		browser.type("#text", browser.await("#text").getDomProperty("value").replace(",oops", ""));
		browser.awaitSaid("HSET product:250002");
		browser.await("#go").click();
		browser.awaitSaid("Its one record ran.");
		assertThat(this.redis.dbsize()).isEqualTo(ROWS);
	}

	@Test
	void aJobIsFollowedPacedAndCancelledWhereverOneLooks() throws IOException {
		browser.visit(this.service, "");
		browser.choose(products());
		browser.awaitText("Settings").click();
		browser.type("#field-rateLimit", "20000");
		browser.await("#go").click();
		browser.awaitSaid("runs", "s left", "on their way");
		// Whoever only presses the button changes nothing.
		await().until(() -> "20000".equals(browser.await("#pace").getDomProperty("value")));
		browser.type("#pace", "30000");
		browser.await("#change").click();
		await().until(() -> job().at("/settings/rateLimit").asLong() == 30_000);
		browser.awaitText("The same with curl").click();
		browser.awaitSaid("curl -sSN", "-X DELETE", "rateLimit=30000'");
		await().until(() -> job().at("/counts/applied").asLong() > 60_000);
		browser.picture("console-running", 1200, 900);
		browser.awaitText("Jobs").click();
		browser.awaitSaid("HSET job: products.csv", "runs");
		browser.picture("console-jobs", 1200, 420);
		browser.awaitText("Cancel").click();
		browser.awaitSaid("cancelled");
		browser.awaitText("HSET job: products.csv").click();
		browser.awaitSaid("did not run", "NOT_SENT", "The job was cancelled");
		await().until(() -> browser.all(".windowed tbody tr").size() > 20);
		browser.run("document.querySelector('.windowed').scrollTop = 34 * 9000");
		await().until(() -> browser.all("[aria-rowindex='9005']").size() == 1);
		assertThat(browser.all(".windowed tbody tr")).hasSizeLessThan(100);
	}

	private JsonNode job() {
		String id = String.valueOf(browser.run("return location.hash")).replace("#/jobs/", "");
		return this.service.get("/v1/jobs/" + id).json();
	}

	@Test
	void recordsThatRedisRefusedAreRepeatedOnceTheReasonIsGone() {
		this.redis.lpush("u:1", "in the way");
		browser.visit(this.service, "");
		browser.awaitText("or paste records").click();
		browser.type("#text",
				"{\"op\":\"HSET\",\"key\":\"u:1\",\"fields\":{\"name\":\"Ada\"}}\n[\"SET\",\"u:2\",\"x\"]\n");
		browser.awaitSaid("NDJSON", "HSET u:1 name Ada", "SET u:2 x");
		browser.await("#go").click();
		browser.awaitSaid("1 record did not run", "WRONGTYPE");
		this.redis.del("u:1");
		browser.await("#repeat").click();
		browser.awaitSaid("Its one record ran.");
		assertThat(this.redis.hget("u:1", "name")).isEqualTo("Ada");
	}

	@Test
	void aDryRunWritesNothingAndAMistakeIsASentence() {
		browser.visit(this.service, "");
		browser.awaitText("or paste records").click();
		browser.type("#text", "key;value\na;1\nb;2\n");
		browser.awaitSaid("CSV with semicolons, a row of names, 2 columns", "SET a 1", "SET b 2");
		browser.type("#field-key", "x:{kay}");
		browser.awaitSaid("the header has no column 'kay', which 'key' names; it has key, value");
		browser.type("#field-key", "x:{key}");
		browser.type("#field-ttl", "1 fortnight");
		browser.awaitSaid("'ttl' must be a whole number of seconds");
		browser.type("#field-ttl", "1h");
		browser.awaitSaid("SET x:b 2 EX 3600");
		browser.awaitText("Dry run").click();
		browser.awaitSaid("dry run", "All 2 records would run.");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void thePageSaysThatTheServiceIsLostAndGoesOnWhenItIsBack() throws IOException {
		browser.visit(this.service, "");
		browser.choose(products());
		browser.awaitText("Settings").click();
		browser.type("#field-rateLimit", "100000");
		browser.await("#go").click();
		browser.awaitSaid("runs", "s left");
		browser.cutOff(true);
		browser.awaitSaid("The service does not answer.");
		browser.picture("console-lost", 1200, 600);
		browser.cutOff(false);
		browser.awaitSaid("1 record did not run", "completed");
		assertThat(browser.text()).doesNotContain("does not answer");
	}

	@Test
	void pagesAreForTelephonesAndForTheDarkAsWell() {
		this.service.post("/pipeset/1000").report();
		browser.phone(true);
		try {
			browser.visit(this.service, "");
			browser.awaitText("or paste records").click();
			browser.type("#text", "sid,name,price\n17,Ada,4.50\n18,Grace,3\n");
			browser.awaitSaid("HSET record:18");
			assertThat(browser.overflow()).as("pixels of the page beyond the screen").isZero();
			browser.picture("console-phone");
			browser.dark(true);
			browser.picture("console-dark");
			browser.awaitText("Jobs").click();
			browser.awaitText("SET job").click();
			browser.awaitSaid("All 1,000 records ran.");
			assertThat(browser.overflow()).as("pixels of the page beyond the screen").isZero();
			browser.picture("console-job-dark");
		}
		finally {
			browser.dark(false);
			browser.phone(false);
		}
	}

	@Test
	void everyControlHasANameAndCanBeReachedByTheKeyboard() {
		browser.visit(this.service, "");
		browser.awaitText("or paste records").click();
		browser.type("#text", "sid,name,price\n17,Ada,4.50\n");
		browser.awaitSaid("HSET record:17");
		browser.awaitText("Settings").click();
		browser.await("#field-batchSize");
		assertThat(browser.run("""
				return [...document.querySelectorAll('button, a, input, select, textarea, summary, [tabindex="0"]')]
					.filter((control) => control.checkVisibility() && control.type !== 'file')
					.filter((control) => !(control.ariaLabel || control.textContent.trim() || control.labels?.length))
					.map((control) => control.outerHTML)""")).as("controls without a name").isEqualTo(List.of());
		assertThat(browser.run("""
				return [...document.querySelectorAll('button, a, input, select, textarea')]
					.filter((control) => control.tabIndex < 0).map((control) => control.outerHTML)"""))
			.as("controls that the keyboard does not reach")
			.isEqualTo(List.of());
		assertThat(browser.run("return document.querySelectorAll('h1').length + document.documentElement.lang"))
			.isEqualTo("1en");
	}

	@Test
	void anUploadShowsItsProgressIsStoppedAndGoesOnWhileOneLooksElsewhere() throws IOException {
		browser.visit(this.service, "");
		browser.choose(products());
		browser.awaitSaid("HSET product:100001");
		browser.slow(200_000);
		browser.await("#go").click();
		browser.awaitSaid("of 6.5 MB uploaded");
		browser.awaitText("Stop the upload").click();
		browser.awaitSaid("nothing of it was run");
		browser.await("#go").click();
		browser.awaitSaid("of 6.5 MB uploaded");
		browser.awaitText("Jobs").click();
		browser.awaitSaid("State");
		browser.awaitText("Load").click();
		browser.awaitSaid("of 6.5 MB uploaded");
		browser.cutOff(false);
		browser.awaitSaid("1 record did not run");
		assertThat(this.redis.dbsize()).isEqualTo(ROWS - 1);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			a.tsv    | sid\\tname\\n1\\tAda\\n         | TSV with tabs     | SET a:1 Ada
			b.csv    | 1,Ada,x\\n2,Grace,y\\n             | no row of names   | HSET b:1 column1 1 column2 Ada column3 x
			users.json | [{"id":1,"n":{"x":4}}, {"id":2,"n":{"x":5}}]  | JSON | SET user:2 5
			d.ndjson.gz | {"op":"SET","key":"d","value":{"a":1}}\\n | NDJSON, a record a line | SET d "{\\"a\\":1}"
			e.txt    | SET e "x y"\\nHSET f g h\\n       | redis-cli commands | SET e "x y"
			f.resp   | *3\\r\\n$3\\r\\nSET\\r\\n$1\\r\\nf\\r\\n$2\\r\\né\\r\\n | RESP | SET f é
			g.csv    | key,value,ttl\\ng,"a\\nb",90\\n     | 3 columns         | SET g "a\\nb" EX 90
			""")
	void theFormatOfAFileIsFound(String name, String content, String found, String command) throws IOException {
		byte[] bytes = content.translateEscapes().getBytes(StandardCharsets.UTF_8);
		Path file = folder.resolve(name);
		try (OutputStream out = Files.newOutputStream(file);
				OutputStream packed = (name.endsWith(".gz")) ? new GZIPOutputStream(out) : out) {
			packed.write(bytes);
		}
		browser.visit(this.service, "");
		browser.choose(file);
		browser.awaitSaid(found, command);
		browser.await("#go").click();
		browser.awaitSaid(" ran.");
	}

	@Test
	void theBrowserKeepsThePolicy() {
		browser.visit(this.service, "");
		browser.awaitSaid("Drop a file here");
		assertThatThrownBy(() -> browser.run("document.body.innerHTML = '<b>markup</b>'"))
			.hasMessageContaining("TrustedHTML");
		browser.run("fetch('https://elsewhere.example/').catch(() => {})");
		browser.run("document.body.setAttribute('style', 'color: red')");
		assertThatThrownBy(browser::assertQuiet).hasMessageContaining("elsewhere.example")
			.hasMessageContaining("style");
	}

	/** The row of one product has a cell too many. */
	private static Path products() throws IOException {
		return Files.writeString(folder.resolve("products.csv"),
				IntStream.range(0, ROWS)
					.mapToObj((i) -> (100_001 + i) + ",Product no. " + i + "," + (i % 1000) + ".50," + (i % 7)
							+ ((i == WRONG_LINE - 2) ? ",oops" : ""))
					.collect(Collectors.joining("\n", "sku,name,price,stock\n", "\n")));
	}

}
