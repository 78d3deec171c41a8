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

import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.WebElement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** The pages of the console, in a browser and with a real Redis. */
@ServiceTest
class ConsoleTests extends ConsolePages {

	private static final int ROWS = 200_000;

	/** Enough rows for a load that takes some time. */
	private static final int FEWER_ROWS = 40_000;

	/**
	 * Files, each with its name, its text, and the page's description of its format and
	 * its last record.
	 */
	private static final String[][] FILES = { { "a.tsv", "sid\tname\n1\tAda\n", "TSV with tabs", "SET a:1 Ada" },
			{ "b.csv", "1,Ada,x\n2,Grace,y\n", "no header row", "HSET b:1 column1 1 column2 Ada column3 x" },
			{ "users.json", "[{\"id\":1,\"n\":{\"x\":4}}, {\"id\":2,\"n\":{\"x\":5}}]", "JSON", "SET user:2 5" },
			{ "d.ndjson.gz", "{\"op\":\"SET\",\"key\":\"d\",\"value\":{\"a\":1}}\n", "NDJSON, a record a line",
					"SET d \"{\\\"a\\\":1}\"" },
			{ "e.txt", "SET e \"x y\"\nHSET f g h\n", "redis-cli commands", "SET e \"x y\"" },
			{ "f.resp", "*3\r\n$3\r\nSET\r\n$1\r\nf\r\n$2\r\né\r\n", "RESP", "SET f é" },
			{ "g.csv", "key,value,ttl\ng,\"a\nb\",90\n", "3 columns", "SET g \"a\\nb\" EX 90" } };

	@TempDir
	private static Path folder;

	ConsoleTests(Service service, Browser browser) {
		super(service, browser);
	}

	@Test
	void aFileWithAWrongRowIsLoadedAndTheRowIsFixedAndLoaded() throws IOException {
		this.browser.visit(this.service, "");
		this.browser.awaitSaid("Drop a file here");
		this.browser.picture("console-empty", 1200, 560);
		this.browser.choose(products(ROWS));
		this.browser.awaitSaid("detected: CSV with commas, a header row, 4 columns", "HSET product:100001");
		this.browser.picture("console-load", 1200, 1160);
		this.browser.click("#go");
		this.browser.awaitSaid("1 record did not run", "completed, with rejected records", "199,999", "MALFORMED",
				String.valueOf(wrongLine(ROWS)));
		this.browser.picture("console-job", 1200, 1100);
		assertThat(this.redis.dbsize()).isEqualTo(ROWS - 1);
		assertThat(this.browser.all("#repeat")).as("a way to send a malformed record once more")
			.noneMatch(WebElement::isDisplayed);
		this.browser.click("#save");
		assertThat(this.browser.download()).contains("\"line\":" + wrongLine(ROWS)).hasLineCount(1);
		this.browser.click("#fix");
		this.browser.awaitSaid("Fix the rows above");
		this.browser.type("#text", this.browser.await("#text").getDomProperty("value").replace(",oops", ""));
		this.browser.awaitSaid("HSET product:250002");
		this.browser.click("#go");
		this.browser.awaitSaid("HSET job: rows of products.csv", "Its one record ran.");
		assertThat(this.redis.dbsize()).isEqualTo(ROWS);
		this.browser.clickText("Load");
		this.browser.awaitSaid("Drop a file here");
		assertThat(this.browser.all("#go")).as("a way to load fixed rows once more").isEmpty();
	}

	@Test
	void aNewcomerLoadsTheSampleByOneMoreClick() {
		this.browser.visit(this.service, "");
		this.browser.click("#sample");
		this.browser.awaitSaid("sample.csv", "CSV with commas", "HSET sample:17 id 17 name Ada city London",
				"HSET sample:18");
		assertThat(this.browser.all("#sample")).noneMatch(WebElement::isDisplayed);
		this.browser.until("document.activeElement.id === 'go'");
		this.browser.click("#go");
		this.browser.awaitSaid("HSET job: sample.csv", "All 3 records ran.");
		assertThat(this.redis.hget("sample:19", "name")).isEqualTo("Linus");
		assertThat(this.redis.ttl("sample:19")).isBetween(3000L, 3600L);
	}

	@Test
	void aLoadIsComparedAndWhatDiffersIsLoadedAgain() {
		this.browser.visit(this.service, "");
		this.browser.click("#sample");
		this.browser.click("#go");
		this.browser.awaitSaid("All 3 records ran.");
		String key = this.redis.keys("*").get(0);
		this.redis.del(key);
		this.browser.click("#compare");
		this.browser.awaitSaid("comparison", "1 record not the same in Redis", "MISSING", key);
		this.browser.click("#repeat");
		this.browser.awaitSaid("Its one record ran.");
		assertThat(this.redis.exists(key)).isOne();
	}

	@Test
	void aJobWithRejectedRecordsHasAStateOfItsOwn() {
		String good = post("[\"SET\",\"a\",\"1\"]");
		String bad = post("[\"SET\",\"a\",\"1\"]", "[\"SET\",\"a\"]");
		this.browser.visit(this.service, "/#/jobs");
		this.browser.await("[data-job='" + bad + "']");
		assertThat(badge("[data-job='" + good + "'] .badge")).isEqualTo("completed");
		assertThat(badge("[data-job='" + bad + "'] .badge")).isEqualTo("completed, with rejected records");
		assertThat(this.browser.run("""
				return new Set([...document.querySelectorAll("[data-job='%s'] .badge, [data-job='%s'] .badge")]
					.map((badge) => getComputedStyle(badge).color)).size""".formatted(good, bad))).as("colours")
			.isEqualTo(2L);
		this.browser.go("#/jobs/" + bad);
		this.browser.awaitSaid("1 record did not run", "MALFORMED");
		assertThat(badge(".title .badge")).isEqualTo("completed, with rejected records");
	}

	private String badge(String css) {
		return this.browser.await(css).getText();
	}

	private String post(String... records) {
		return this.service.ndjson("/v1/jobs?label=mixed-" + records.length, records).report().get("jobId").asString();
	}

	@Test
	void jobsAreFilteredByLabelAndIdAmongThoseThatAreLoaded() {
		String one = post("[\"SET\",\"a\",\"1\"]");
		String two = post("[\"SET\",\"a\",\"1\"]", "[\"SET\",\"b\",\"1\"]");
		this.browser.visit(this.service, "/#/jobs");
		this.browser.await("[data-job='" + one + "']");
		this.browser.type("#filter", two);
		this.browser.awaitSaid("1 of the ", " loaded matches");
		awaitOnly(two);
		// By patterns, other tests' jobs may match as well.
		this.browser.type("#filter", "MIXED-?");
		this.browser.await("[data-job='" + one + "']");
		this.browser.await("[data-job='" + two + "']");
		this.browser.type("#filter", "mixed-2*");
		this.browser.until("!document.querySelector(arguments[0])", "[data-job='" + one + "']");
		this.browser.await("[data-job='" + two + "']");
		this.browser.type("#filter", "ixed-2");
		this.browser.await("[data-job='" + two + "']");
		this.browser.type("#filter", "ixed-*");
		this.browser.awaitSaid("0 of the ", " loaded match");
		this.browser.type("#filter", "mixed.");
		this.browser.awaitSaid("0 of the ", " loaded match");
	}

	private void awaitOnly(String job) {
		this.browser
			.until("""
					[...document.querySelectorAll('[data-job]')].map(({ dataset }) => dataset.job).join() === arguments[0]""",
					job);
	}

	@Test
	void settingsHaveNamesForPeopleAndTheCurlLineThoseOfTheApi() {
		this.browser.visit(this.service, "");
		this.browser.click("#sample");
		this.browser.clickText("Settings");
		this.browser.type("#field-batchSize", "500");
		this.browser.awaitSaid("Records per batch", "Connections at once");
		assertThat(this.browser.await("#field-batchSize").getDomAttribute("title")).isEqualTo("batchSize");
		assertThat(this.browser.text()).doesNotContain("batchSize");
		assertThat(unnamed()).isEqualTo(List.of());
		this.browser.clickText("The same with curl");
		this.browser.awaitSaid("batchSize=500");
		this.browser.click("#go");
		this.browser.awaitSaid("Settings in effect", "Records per batch");
		for (String page : List.of("Tune", "Keyspace")) {
			this.browser.clickText(page);
			this.browser.await(".field");
			this.browser.until("document.title.startsWith(arguments[0])", page);
			assertThat(unnamed()).isEqualTo(List.of());
		}
	}

	/** The settings whose label is their name in the API. */
	private Object unnamed() {
		return this.browser
			.run("""
					return [...document.querySelectorAll('.field')].map((field) => [field.querySelector('[title]')?.title, field.querySelector('label').textContent])
						.filter(([name, label]) => name === label).map(([name]) => name)""");
	}

	@Test
	void eachPageNamesRedisAndTheVersion() {
		String version = this.service.get("/").json().get("version").asString();
		this.browser.visit(this.service, "");
		this.browser.awaitSaid(redisName(), "Drop a file here", "Pipeset " + version, "HTTP API");
		for (String page : List.of("Jobs", "Keyspace", "Tune", "Service")) {
			this.browser.clickText(page);
			this.browser.awaitSaid(redisName(), "Pipeset " + version);
		}
		this.browser.clickText("HTTP API");
		this.browser.awaitSaid("Loads Redis in bulk over HTTP.", "/v1/jobs");
	}

	@Test
	void noRequestOfNormalUseIsRefused() {
		String callers = post("[\"SET\",\"a\",\"1\"]", "[\"SET\",\"a\"]");
		this.browser.visit(this.service, "");
		this.browser.click("#sample");
		this.browser.awaitSaid("HSET sample:17");
		this.browser.clickText("Dry run");
		this.browser.awaitSaid("All 3 records would run.");
		this.browser.clickText("Back to the load");
		this.browser.type("#text", "id,name,city\n17,Ada,London\n18\n");
		this.browser.awaitSaid("MALFORMED");
		this.browser.click("#go");
		this.browser.awaitSaid("1 record did not run", "MALFORMED");
		this.browser.await("#fix");
		for (String[] page : new String[][] { { "jobs", "Created" }, { "jobs/" + callers, "MALFORMED" },
				{ "tune", "No run starts after" }, { "service", "Memory for jobs" }, { "keyspace", "Analyse" } }) {
			this.browser.go("#/" + page[0]);
			this.browser.awaitSaid(page[1]);
		}
		this.browser.click("#analyse");
		this.browser.clickText("record:");
		this.browser.click("#count");
		this.browser.awaitSaid("matches record:*");
		this.browser.assertSilent();
	}

	@Test
	void onlyFilesAreOfferedWithoutSources() {
		assertThat(this.service.get("/v1/sources").json().toString()).isEqualTo("{\"urls\":[],\"queries\":[]}");
		this.browser.visit(this.service, "/#/jobs");
		this.browser.awaitSaid("Jobs", "State");
		this.browser.run("""
				const real = fetch;
				window.fetch = async (url, asked) => {
					const answer = await real(url, asked);
					if (url.endsWith('/v1/sources')) {
						const sources = await answer.json();
						answer.json = async () => (setTimeout(() => window.answered = true), sources);
					}
					return answer;
				}""");
		this.browser.clickText("Load");
		this.browser.until("Boolean(window.answered)");
		this.browser.awaitSaid("Drop a file here");
		assertThat(this.browser.text()).doesNotContain("A file", "A URL", "A query");
		assertThat(this.browser.all("[name=kind]")).isEmpty();
	}

	@Test
	void aJobIsFollowedPacedAndCancelledFromSeveralPages() throws IOException {
		this.browser.visit(this.service, "");
		this.browser.choose(products(ROWS));
		this.browser.clickText("Settings");
		// The job is slow, because a browser may need minutes for the steps before its
		// end.
		this.browser.type("#field-rateLimit", "1000");
		this.browser.click("#go");
		this.browser.awaitSaid("running", "s left", "in flight");
		// The field has the current rate, so the button alone changes nothing.
		await().until(() -> "1000".equals(this.browser.await("#rate").getDomProperty("value")));
		this.browser.type("#rate", "1200");
		this.browser.click("#change");
		await().until(() -> job().at("/settings/rateLimit").asLong() == 1200);
		this.browser.clickText("The same with curl");
		this.browser.awaitSaid("curl -sSN", "-X DELETE", "rateLimit=1200'");
		await().until(() -> job().at("/counts/applied").asLong() > 2000);
		this.browser.picture("console-running", 1200, 900);
		this.browser.clickText("Jobs");
		this.browser.awaitSaid("HSET job: products.csv", "running");
		assertThat(this.browser.run("const { scrollWidth, clientWidth } = document.querySelector('.scroll');"
				+ " return scrollWidth - clientWidth"))
			.as("pixels of the table beyond its edge")
			.isEqualTo(0L);
		this.browser.picture("console-jobs", 1200, 420);
		this.browser.clickText("Cancel");
		this.browser.awaitSaid("cancelled");
		this.browser.clickText("HSET job: products.csv");
		this.browser.awaitSaid("did not run", "NOT_SENT", "The job was cancelled");
		await().until(() -> this.browser.all(".windowed tbody tr").size() > 20);
		this.browser.run("document.querySelector('.windowed').scrollTop = 34 * 9000");
		await().until(() -> this.browser.all("[aria-rowindex='9005']").size() == 1);
		assertThat(this.browser.all(".windowed tbody tr")).hasSizeLessThan(100);
	}

	@Test
	void refusedRecordsAreRepeatedAfterTheReasonIsGone() {
		this.redis.lpush("u:1", "in the way");
		this.browser.visit(this.service, "");
		this.browser.clickText("or paste records");
		this.browser.type("#text",
				"{\"op\":\"HSET\",\"key\":\"u:1\",\"fields\":{\"name\":\"Ada\"}}\n[\"SET\",\"u:2\",\"x\"]\n");
		this.browser.awaitSaid("NDJSON", "HSET u:1 name Ada", "SET u:2 x");
		this.browser.clickText("Settings");
		this.browser.type("#field-batchSize", "7");
		this.browser.click("#go");
		this.browser.awaitSaid("1 record did not run", "WRONGTYPE");
		this.redis.del("u:1");
		this.browser.click("#repeat");
		this.browser.awaitSaid("Its one record ran.");
		assertThat(this.redis.hget("u:1", "name")).isEqualTo("Ada");
		assertThat(job().at("/settings/batchSize").asInt()).isEqualTo(7);
	}

	@Test
	void theListShowsTheLastChosenState() {
		this.service.post("/pipeset/5").report();
		this.browser.visit(this.service, "/#/jobs");
		this.browser.awaitSaid("SET job");
		this.browser.run("""
				const real = fetch;
				window.fetch = async (url, asked) => {
					const answer = await real(url, asked);
					if (url.includes('state=completed')) {
						const list = await answer.json();
						await new Promise((release) => window.release = release);
						asked.signal.throwIfAborted();
						answer.json = async () => list;
					}
					return answer;
				}""");
		this.browser.choose("#state", "completed");
		this.browser.until("Boolean(window.release)");
		// No job waits, even if other tests have left jobs.
		this.browser.choose("#state", "queued");
		this.browser.awaitSaid("No job is queued.");
		Object said = this.browser.run("""
				return new Promise((resolve) => {
					release();
					setTimeout(() => resolve(document.querySelector('main').innerText));
				})""");
		assertThat(said).asString().contains("No job is queued.").doesNotContain("SET job");
	}

	@Test
	void recordsAreNotRepeatedAfterTheUserHasLeftThePage() {
		this.redis.lpush("u:1", "in the way");
		this.browser.visit(this.service, "");
		this.browser.clickText("or paste records");
		this.browser.type("#text", "{\"op\":\"HSET\",\"key\":\"u:1\",\"fields\":{\"name\":\"Ada\"}}\n");
		this.browser.awaitSaid("NDJSON", "HSET u:1 name Ada");
		this.browser.click("#go");
		this.browser.awaitSaid("1 record did not run");
		this.browser.await("#repeat");
		this.browser.run("""
				const real = fetch;
				window.sent = 0;
				const send = XMLHttpRequest.prototype.send;
				XMLHttpRequest.prototype.send = function (body) {
					sent++;
					send.call(this, body);
				};
				window.fetch = async (url, asked) => {
					if (!url.includes('items?status=')) {
						return real(url, asked);
					}
					await new Promise((release) => window.release = release);
					try {
						const answer = await real(url, asked);
						const records = await answer.blob();
						answer.blob = async () => records;
						return answer;
					}
					finally {
						setTimeout(() => window.answered = true);
					}
				}""");
		this.browser.click("#repeat");
		this.browser.until("Boolean(window.release)");
		this.browser.clickText("Jobs");
		this.browser.awaitSaid("Created");
		this.browser.run("release()");
		this.browser.until("Boolean(window.answered)");
		assertThat(this.browser.run("return sent")).isEqualTo(0L);
	}

	/** The browser's log has no error. It is checked after each test. */
	@ParameterizedTest
	@ValueSource(strings = { "{", "{\"op\":\"SE" })
	void aRecordIsCheckedWhileItIsTyped(String begun) {
		this.browser.visit(this.service, "");
		this.browser.clickText("or paste records");
		WebElement text = this.browser.await("#text");
		text.sendKeys(begun);
		this.browser.awaitSaid("The first records");
		text.clear();
		text.sendKeys("\n{\"op\":\"SET\",\"key\":\"a\",\"value\":\"1\"}");
		this.browser.awaitSaid("NDJSON");
	}

	@Test
	void rowsThatMayHaveRunCannotBeFixed() {
		this.browser.visit(this.service, "");
		this.browser.clickText("or paste records");
		this.browser.type("#text", "key,value\na,1\nb,2,oops\nc,3\n");
		this.browser.awaitSaid("SET a 1");
		this.browser.clickText("Settings");
		this.browser.type("#field-replicas", "1");
		this.browser.type("#field-replicasTimeout", "10ms");
		this.browser.click("#go");
		this.browser.awaitSaid("2 more may have run", "MALFORMED");
		this.browser.click("#fix");
		this.browser.awaitSaid("Fix the rows above");
		assertThat(this.browser.await("#text").getDomProperty("value")).isEqualTo("key,value\nb,2,oops\n");
	}

	@Test
	void jobsAreFoundAfterAnyNumberOfPreviews() {
		String tuning = this.service
			.post("/v1/tunings?records=1000&runs=1&batchSizes=100&flushes=close&concurrencies=1")
			.json()
			.get("tuningId")
			.asString();
		String analysis = this.service.post("/v1/analyses").json().get("analysisId").asString();
		for (int i = 0; i < 200; i++) {
			this.service.post("/pipeset/5?dryRun=true&label=Preview+in+the+console").report();
		}
		this.browser.visit(this.service, "/#/jobs");
		this.browser.await("[data-job='" + analysis + "']");
		this.browser.clickText("Tune");
		this.browser.await("[data-job='" + tuning + "']");
		this.browser.clickText("Keyspace");
		this.browser.await("a[href='#/keyspace/" + analysis + "']");
	}

	@Test
	void aDryRunWritesNothingAndAMistakeIsExplained() {
		this.browser.visit(this.service, "");
		this.browser.clickText("or paste records");
		this.browser.type("#text", "key;value\na;1\nb;2\n");
		this.browser.awaitSaid("CSV with semicolons, a header row, 2 columns", "SET a 1", "SET b 2");
		this.browser.type("#field-key", "x:{kay}");
		this.browser.awaitSaid("the header has no column 'kay', which 'key' names; it has 'key', 'value'");
		this.browser.type("#field-key", "x:{key}");
		this.browser.type("#field-ttl", "1 fortnight");
		this.browser.awaitSaid("'ttl' must be a whole number of seconds");
		this.browser.type("#field-ttl", "1h");
		this.browser.awaitSaid("SET x:b 2 EX 3600");
		this.browser.clickText("Dry run");
		this.browser.awaitSaid("dry run", "All 2 records would run.");
		this.browser.clickText("Back to the load");
		this.browser.type("#text", "key;value\na;1\nb\n");
		this.browser.awaitSaid("MALFORMED");
		this.browser.clickText("Dry run");
		this.browser.awaitSaid("1 record would not run", "Nothing was written. Fix the file, or load it as it is");
		this.browser.await(".windowed");
		assertThat(this.browser.all("#fix")).as("a way to fix one row, and leave out all others")
			.noneMatch(WebElement::isDisplayed);
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void thePageReportsALostServiceAndContinuesWhenItIsBack() throws IOException {
		this.browser.visit(this.service, "");
		this.browser.choose(products(FEWER_ROWS));
		this.browser.clickText("Settings");
		this.browser.type("#field-rateLimit", "200");
		this.browser.click("#go");
		this.browser.awaitSaid("running", "s left");
		this.browser.cutOff(true);
		this.browser.awaitSaid("The service does not answer.");
		this.browser.picture("console-lost", 1200, 600);
		this.service.patch("/v1/jobs/" + jobId() + "?rateLimit=none");
		this.browser.cutOff(false);
		this.browser.awaitSaid("1 record did not run", "completed");
		this.browser.awaitUnsaid("does not answer");
	}

	@Test
	void pagesFitPhonesAndTheDarkTheme() {
		this.service.post("/pipeset/1000").report();
		this.browser.phone(true);
		try {
			this.browser.visit(this.service, "");
			this.browser.clickText("or paste records");
			this.browser.type("#text", "sid,name,price\n17,Ada,4.50\n18,Grace,3\n");
			this.browser.awaitSaid("HSET record:18");
			assertThat(this.browser.overflow()).as("pixels of the page beyond the screen").isZero();
			this.browser.picture("console-phone");
			this.browser.dark(true);
			this.browser.picture("console-dark");
			this.browser.clickText("Jobs");
			this.browser.clickText("SET job");
			this.browser.awaitSaid("All 1,000 records ran.");
			assertThat(this.browser.overflow()).as("pixels of the page beyond the screen").isZero();
			this.browser.picture("console-job-dark");
		}
		finally {
			this.browser.dark(false);
			this.browser.phone(false);
		}
	}

	@Test
	void aTableShowsThatItGoesOn() {
		post("[\"SET\",\"a\",\"1\"]");
		this.browser.phone(true);
		try {
			for (boolean dark : new boolean[] { false, true }) {
				this.browser.dark(dark);
				this.browser.visit(this.service, "/#/jobs");
				this.browser.await("[data-job]");
				this.browser.type("#filter", "mixed-1");
				this.browser.until("[...document.querySelectorAll('[data-job]')].length > 0");
				int right = edge("right");
				this.browser.run("document.querySelector('.scroll').scrollLeft = 9999");
				assertThat(edge("right")).as("the right edge at the end, dark: %s", dark).isNotEqualTo(right);
				int left = edge("left");
				this.browser.run("document.querySelector('.scroll').scrollLeft = 0");
				assertThat(edge("left")).as("the left edge at the beginning, dark: %s", dark).isNotEqualTo(left);
			}
		}
		finally {
			this.browser.dark(false);
			this.browser.phone(false);
		}
	}

	@Test
	void aPhoneShowsStatesAndReasonsWhole() {
		String job = post("[\"SET\",\"a\",\"1\"]", "[\"SET\",\"a\"]",
				"{\"op\":\"SET\",\"key\":\"" + "k".repeat(80) + "\",\"value\":\"x\",\"ttl\":\"1 fortnight\"}");
		this.browser.phone(true);
		try {
			this.browser.visit(this.service, "/#/jobs");
			this.browser.await("[data-job='" + job + "']");
			assertThat(this.browser
				.run("""
						const { right } = document.querySelector('.scroll').getBoundingClientRect();
						return [...document.querySelectorAll('.jobs .badge')].every((badge) => badge.getBoundingClientRect().right <= right)
							&& [...document.querySelectorAll('.jobs th')].every((head) => head.clientHeight < 40)"""))
				.as("whole states, and a head row of one line")
				.isEqualTo(true);
			this.browser.go("#/jobs/" + job);
			this.browser.awaitSaid("2 records did not run", "Line 2: MALFORMED");
			this.browser.run("document.querySelectorAll('.reason')[1].click()");
			this.browser.awaitSaid("Line 3: MALFORMED " + "k".repeat(80));
			assertThat(this.browser
				.run("""
						const { scrollWidth, clientWidth, textContent } = document.querySelector('.whole');
						return scrollWidth <= clientWidth && textContent.endsWith(document.querySelectorAll('.reason')[1].title)"""))
				.as("a whole reason on the screen")
				.isEqualTo(true);
			assertThat(this.browser.overflow()).as("pixels of the page beyond the screen").isZero();
		}
		finally {
			this.browser.phone(false);
		}
	}

	/**
	 * The colour of a table beside its edge, below the header and the text of its first
	 * row.
	 */
	private int edge(String side) {
		List<?> at = (List<?>) this.browser.run("""
				const { left, right } = document.querySelector('.scroll').getBoundingClientRect();
				const { bottom } = document.querySelector('.scroll tbody tr').getBoundingClientRect();
				return [Math.round(%s), Math.round(bottom) - 3]"""
			.formatted(side.equals("left") ? "left + 3" : "right - 3"));
		return this.browser.pixel((Long) at.get(0), (Long) at.get(1));
	}

	@Test
	void everyControlHasANameAndCanBeReachedByTheKeyboard() {
		this.browser.visit(this.service, "");
		this.browser.clickText("or paste records");
		this.browser.type("#text", "sid,name,price\n17,Ada,4.50\n");
		this.browser.awaitSaid("HSET record:17");
		this.browser.clickText("Settings");
		this.browser.await("#field-batchSize");
		assertThat(this.browser.run("""
				return [...document.querySelectorAll('button, a, input, select, textarea, summary, [tabindex="0"]')]
					.filter((control) => control.checkVisibility() && control.type !== 'file')
					.filter((control) => !(control.ariaLabel || control.textContent.trim() || control.labels?.length))
					.map((control) => control.outerHTML)""")).as("controls without a name").isEqualTo(List.of());
		assertThat(this.browser.run("""
				return [...document.querySelectorAll('button, a, input, select, textarea')]
					.filter((control) => control.tabIndex < 0).map((control) => control.outerHTML)"""))
			.as("controls that the keyboard does not reach")
			.isEqualTo(List.of());
		assertThat(this.browser.run("return document.querySelectorAll('h1').length + document.documentElement.lang"))
			.isEqualTo("1en");
	}

	@Test
	void anUploadShowsItsProgressCanBeStoppedAndContinuesOnOtherPages() throws IOException {
		this.browser.visit(this.service, "");
		this.browser.choose(products(FEWER_ROWS));
		this.browser.awaitSaid("HSET product:100001");
		this.browser.slow(10_000);
		this.browser.click("#go");
		this.browser.awaitSaid("of 1.3 MB uploaded");
		this.browser.clickText("Stop the upload");
		this.browser.awaitSaid("the service ran none of it");
		this.browser.click("#go");
		this.browser.awaitSaid("of 1.3 MB uploaded");
		this.browser.clickText("Jobs");
		this.browser.awaitSaid("State");
		this.browser.clickText("Load");
		this.browser.awaitSaid("of 1.3 MB uploaded");
		this.browser.cutOff(false);
		this.browser.awaitSaid("1 record did not run");
		assertThat(this.redis.dbsize()).isEqualTo(FEWER_ROWS - 1);
	}

	/** Each file replaces the previous one. */
	@Test
	void theFormatOfAFileIsDetected() throws IOException {
		this.browser.visit(this.service, "");
		for (String[] row : FILES) {
			byte[] bytes = row[1].getBytes(StandardCharsets.UTF_8);
			Path file = folder.resolve(row[0]);
			try (OutputStream out = Files.newOutputStream(file);
					OutputStream packed = (row[0].endsWith(".gz")) ? new GZIPOutputStream(out) : out) {
				packed.write(bytes);
			}
			this.browser.choose(file);
			this.browser.awaitSaid(row[0], row[2], row[3]);
			this.browser.click("#go");
			this.browser.awaitSaid(row[0], " ran.");
			this.browser.clickText("Load");
		}
	}

	@Test
	void theBrowserKeepsThePolicy() {
		this.browser.visit(this.service, "");
		this.browser.awaitSaid("Drop a file here");
		assertThatThrownBy(() -> this.browser.run("document.body.innerHTML = '<b>markup</b>'"))
			.hasMessageContaining("TrustedHTML");
		this.browser.run("fetch('https://elsewhere.example/').catch(() => {})");
		this.browser.run("document.body.setAttribute('style', 'color: red')");
		assertThatThrownBy(this.browser::assertQuiet).hasMessageContaining("elsewhere.example")
			.hasMessageContaining("style");
	}

	/** The line of the row with one cell too many. */
	private static int wrongLine(int rows) {
		return rows / 4 * 3 + 3;
	}

	private static Path products(int rows) throws IOException {
		Path file = Files.createDirectories(folder.resolve(String.valueOf(rows))).resolve("products.csv");
		if (Files.notExists(file)) {
			Files.writeString(file,
					IntStream.range(0, rows)
						.mapToObj((i) -> (100_001 + i) + ",Product no. " + i + "," + (i % 1000) + ".50," + (i % 7)
								+ ((i == wrongLine(rows) - 2) ? ",oops" : ""))
						.collect(Collectors.joining("\n", "sku,name,price,stock\n", "\n")));
		}
		return file;
	}

}
