package io.pipeset.web.source;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Browser;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.web.source.ResourceServer.Resource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The page Load of the console previews and loads records of a URL or a query. */
@ServiceTest(properties = { "pipeset.sources.timeout=5s", "pipeset.spool.directory=target/spool/console-sources",
		"pipeset.sources.queries.numbers.sql=SELECT generate_series(1, :last) AS id, 'name' AS name",
		"pipeset.sources.queries.slow.sql=SELECT 1 AS id, pg_sleep(3600)::text AS name",
		"pipeset.sources.queries.products.sql=SELECT sku, name, updated FROM products WHERE updated >= :since ORDER BY sku" })
class ConsoleSourceTests {

	private static final String SIGNATURE = "?X-Amz-Signature=secretsignature&X-Amz-Expires=60";

	private static final TestPostgres postgres = TestPostgres.start();

	private static final ResourceServer server = ResourceServer.open();

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	/** Each test has a folder of its own. */
	private final String folder = "/data/" + UUID.randomUUID() + "/";

	private final Service service;

	private final Browser browser;

	ConsoleSourceTests(Service service, Browser browser) {
		this.service = service;
		this.browser = browser;
	}

	@DynamicPropertySource
	static void allow(DynamicPropertyRegistry properties) {
		properties.add("pipeset.sources.urls", () -> server.url("/data/"));
		postgres.addTo(properties, "numbers", "products", "slow");
	}

	@AfterAll
	static void close() {
		postgres.close();
		server.close();
	}

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
		postgres.run("DROP TABLE IF EXISTS products",
				"CREATE TABLE products (sku text PRIMARY KEY, name text, updated timestamptz)",
				"INSERT INTO products SELECT 'p' || n, 'name ' || n, '2026-01-01T00:00Z'::timestamptz + n * '1 day'"
						+ "::interval FROM generate_series(0, 99) AS n");
	}

	@Test
	void aQueryIsPreviewedAndLoaded() {
		this.browser.visit(this.service, "");
		this.browser.click("[value=query]");
		this.browser.choose("#field-source", "products");
		this.browser.type("#field-param-since", "2026-01-11T00:00:00Z");
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.click("#read");
		this.browser.awaitSaid("a query, 3 columns in the first records", "The first records",
				"HSET product:p10 sku p10 name \"name 10\" updated 2026-01-11T00:00:00Z", "HSET product:p14");
		assertThat(this.browser.text()).doesNotContain("product:p15", "Show them again");
		this.browser.picture("console-source", 1200, 1000);
		this.browser.type("#field-key", "item:{sku}");
		this.browser.awaitSaid("Show them again", "HSET product:p10");
		this.browser.click("#again");
		this.browser.awaitSaid("HSET item:p10");
		this.browser.clickText("The same with curl");
		this.browser.awaitSaid("curl -sS -X POST -H 'Prefer: respond-async' -G",
				"/v1/jobs' -d from=query -d source=products",
				"--data-urlencode 'param.since=2026-01-11T00:00:00Z' -d op=HSET --data-urlencode 'key=item:{sku}'");
		assertThat(this.browser.barriers()).isEmpty();
		assertThat(redis.dbsize()).isZero();
		this.browser.click("#go");
		this.browser.awaitSaid("HSET job: products", "All 90 records ran.", "Settings in effect",
				"Where the records are");
		JsonNode settings = job().get("settings");
		assertThat(settings.get("source").asString()).isEqualTo("products");
		assertThat(settings.get("param.since").asString()).isEqualTo("2026-01-11T00:00:00Z");
		assertThat(redis.keys("*"))
			.containsExactlyInAnyOrderElementsOf(IntStream.range(10, 100).mapToObj((i) -> "item:p" + i).toList());
		assertThat(redis.hgetall("item:p10"))
			.isEqualTo(Map.of("sku", "p10", "name", "name 10", "updated", "2026-01-11T00:00:00Z"));
	}

	@Test
	void aSignedUrlIsPreviewedAndLoadedAndItsSignatureIsNoName() {
		put("products.csv", "text/csv", "id,name,price\n", ",");
		this.browser.phone(true);
		try {
			this.browser.visit(this.service, "");
			this.browser.click("[value=url]");
			this.browser.awaitSaid("begins with " + server.url("/data/"));
			this.browser.type("#field-url", server.url(this.folder + "products.csv") + SIGNATURE);
			this.browser.click("#read");
			this.browser.awaitSaid("CSV, 3 columns in the first records",
					"HSET product:0 id 0 name \"name 0\" price 0.5", "HSET product:4");
			assertThat(this.browser.text()).doesNotContain("product:5");
			assertThat(this.browser.overflow()).as("pixels of the page beyond the screen").isZero();
			this.browser.clickText("The same with curl");
			this.browser.awaitSaid(
					"-d from=url --data-urlencode 'url=" + server.url(this.folder + "products.csv") + SIGNATURE + "'");
			assertThat(this.browser.overflow()).as("pixels of the page beyond the screen").isZero();
			assertThat(this.browser.barriers()).isEmpty();
		}
		finally {
			this.browser.phone(false);
		}
		assertThat(redis.dbsize()).isZero();
		this.browser.clickText("Dry run");
		this.browser.awaitSaid("HSET job: products.csv", "dry run", "All 1,000 records would run.");
		this.browser.clickText("Back to the load");
		this.browser.awaitSaid("products.csv", "Show them again");
		assertThat(this.browser.await("#field-url").getDomProperty("value")).endsWith(SIGNATURE);
		this.browser.click("#go");
		this.browser.awaitSaid("HSET job: products.csv", "All 1,000 records ran.", "Settings in effect",
				server.url(this.folder + "products.csv"));
		assertThat(this.browser.text()).doesNotContain("secretsignature");
		assertThat(String.valueOf(this.browser.run("return document.title"))).contains("HSET job: products.csv")
			.doesNotContain("secretsignature");
		assertThat(job().get("label").asString()).isEqualTo("products.csv");
		assertThat(redis.keys("*"))
			.containsExactlyInAnyOrderElementsOf(IntStream.range(0, 1000).mapToObj((i) -> "product:" + i).toList());
		assertThat(redis.hgetall("product:7")).isEqualTo(Map.of("id", "7", "name", "name 7", "price", "7.5"));
	}

	@Test
	void aUrlThatNamesNoFormatIsLoadedWithThatOfTheForm() {
		put("export", "application/octet-stream", "", ";");
		this.browser.visit(this.service, "");
		this.browser.click("[value=url]");
		this.browser.type("#field-url", server.url(this.folder + "export"));
		this.browser.click("#read");
		this.browser.awaitSaid("format");
		this.browser.await("[role=alert].problem");
		this.browser.choose("#field-format", "csv");
		this.browser.click("#read");
		this.browser.awaitSaid("Separator");
		this.browser.choose("#field-delimiter", ";");
		this.browser.awaitSaid("CSV, 3 columns");
		this.browser.click("#field-header");
		this.browser.awaitSaid("Column names", "column1", "HSET export:0 column1 0 column2 \"name 0\" column3 0.5");
		this.browser.type("#field-names", "id,name,price");
		this.browser.click("#read");
		this.browser.awaitSaid("HSET export:0 id 0");
		this.browser.click("#go");
		this.browser.awaitSaid("All 1,000 records ran.");
		assertThat(redis.dbsize()).isEqualTo(1000);
		assertThat(redis.hgetall("export:7")).isEqualTo(Map.of("id", "7", "name", "name 7", "price", "7.5"));
	}

	@Test
	void aUrlWhoseFirstRowIsNoHeaderIsLoadedWithNames() {
		server.put(this.folder + "pairs.csv", "text/csv", "1,1\n2,4\n".getBytes(StandardCharsets.UTF_8));
		this.browser.visit(this.service, "");
		this.browser.click("[value=url]");
		this.browser.type("#field-url", server.url(this.folder + "pairs.csv"));
		this.browser.click("#read");
		this.browser.awaitSaid("The first row is a header");
		this.browser.click("#field-header");
		this.browser.type("#field-names", "id,square");
		this.browser.click("#read");
		this.browser.awaitSaid("SET pair:1 1", "SET pair:2 4");
		this.browser.click("#go");
		this.browser.awaitSaid("All 2 records ran.");
		assertThat(redis.mget("pair:1", "pair:2")).extracting((pair) -> pair.getValue()).containsExactly("1", "4");
	}

	@Test
	void aPreviewStopsItsQueryAndIsNotListed() {
		this.browser.visit(this.service, "");
		this.browser.click("[value=query]");
		this.browser.choose("#field-source", "numbers");
		// So many rows that no preview could read all of them.
		this.browser.type("#field-param-last", "2000000000");
		this.browser.click("#read");
		this.browser.awaitSaid("SET number:1 name", "SET number:5 name");
		await().until(() -> running("SELECT generate_series%").equals("0"));
		assertThat(redis.dbsize()).isZero();
		this.service.post("/pipeset/7").report();
		this.browser.clickText("Jobs");
		this.browser.awaitSaid("SET job", "completed");
		assertThat(this.browser.text()).doesNotContain("Preview");
	}

	@Test
	void aQueryThatGivesNothingIsStopped() {
		this.browser.visit(this.service, "");
		this.browser.click("[value=query]");
		this.browser.choose("#field-source", "slow");
		this.browser.click("#read");
		await().until(() -> running("SELECT 1 AS id%").equals("1"));
		this.browser.clickText("Stop");
		this.browser.awaitUnsaid("The service reads the first records.");
		await().until(() -> running("SELECT 1 AS id%").equals("0"));
		this.browser.click("#read");
		await().until(() -> running("SELECT 1 AS id%").equals("1"));
		this.browser.run("location.reload()");
		await().until(() -> running("SELECT 1 AS id%").equals("0"));
	}

	private static String running(String query) {
		return postgres
			.ask("SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND query LIKE '" + query + "'");
	}

	@Test
	void errorsAreShown() {
		this.browser.visit(this.service, "");
		this.browser.click("[value=url]");
		this.browser.type("#field-url", server.url("/private/a.csv"));
		this.browser.click("#read");
		this.browser.awaitSaid("This URL is not under one of those that pipeset.sources.urls allows");
		this.browser.type("#field-url", server.url(this.folder + "missing.csv" + SIGNATURE));
		this.browser.click("#read");
		this.browser.awaitSaid("404", "Nothing was run");
		assertThat(this.browser.barriers()).isEmpty();
		this.browser.click("[value=query]");
		this.browser.choose("#field-source", "products");
		this.browser.type("#field-param-since", "yesterday or so");
		this.browser.click("#read");
		this.browser.awaitSaid("invalid input syntax");
		assertThat(this.browser.all("#go")).as("a way to load what cannot be read")
			.noneMatch((button) -> button.isDisplayed());
		this.browser.type("#field-param-since", "2026-01-01");
		this.browser.click("#read");
		this.browser.awaitSaid("HSET product:p0");
		this.browser.type("#field-key", "product:{skew}");
		this.browser.click("#again");
		this.browser.awaitSaid("has no column 'skew', which 'key' names; it has 'sku', 'name', 'updated'");
		this.browser.click("[value='']");
		this.browser.awaitSaid("Drop a file here");
		assertThat(redis.dbsize()).isZero();
	}

	private JsonNode job() {
		String id = String.valueOf(this.browser.run("return location.hash")).replace("#/jobs/", "");
		return this.service.get("/v1/jobs/" + id).json();
	}

	private Resource put(String name, String type, String header, String delimiter) {
		String rows = IntStream.range(0, 1000)
			.mapToObj((i) -> String.join(delimiter, String.valueOf(i), "name " + i, i + ".5") + "\n")
			.collect(Collectors.joining());
		return server.put(this.folder + name, type, (header + rows).getBytes(StandardCharsets.UTF_8));
	}

}
