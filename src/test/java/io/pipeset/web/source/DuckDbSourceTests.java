package io.pipeset.web.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * DuckDB reads Parquet, and its rows are the records of a job. Without its driver on this
 * machine the tests are skipped.
 */
@EnabledIf(value = "io.pipeset.web.source.DuckDbDriver#isThere", disabledReason = "there is no driver of DuckDB")
@ServiceTest
class DuckDbSourceTests {

	private static final DuckDbDriver driver = DuckDbDriver.register();

	private static final Path folder = createFolder();

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	private static final RedisClient client = RedisClient.create(TestRedis.shared().uri());

	private static final RedisCommands<byte[], byte[]> bytes = client.connect(ByteArrayCodec.INSTANCE).sync();

	/** DuckDB keeps parts of a file that it has read, so each test has one of its own. */
	private final String file = UUID.randomUUID() + ".parquet";

	private final Service service;

	DuckDbSourceTests(Service service) {
		this.service = service;
	}

	private static Path createFolder() {
		try {
			return Files.createTempDirectory("parquet");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The query of the page is run as it stands, but for its folder. */
	@DynamicPropertySource
	static void database(DynamicPropertyRegistry properties) throws IOException {
		String recipe = Files.readString(Path.of("docs/sources.md")).replaceFirst("(?s).*\n### Parquet\n", "");
		String prefix = "pipeset.sources.queries.";
		properties.add(prefix + "events.url", () -> value(recipe, "url").replace("\"", ""));
		properties.add(prefix + "events.sql", () -> value(recipe, "sql").replace("/data/events", folder + "/events"));
		properties.add(prefix + "one.url", () -> "jdbc:duckdb:");
		properties.add(prefix + "one.sql", () -> "SELECT * FROM read_parquet(:file)");
		properties.add(prefix + "since.url", () -> "jdbc:duckdb:");
		properties.add(prefix + "since.sql",
				() -> "SELECT id FROM read_parquet(:file) WHERE id >= CAST(:first AS BIGINT) ORDER BY id");
	}

	private static String value(String recipe, String name) {
		return recipe.lines()
			.map(String::strip)
			.filter((line) -> line.startsWith(name + ": "))
			.findFirst()
			.orElseThrow()
			.substring(name.length() + 2);
	}

	@AfterAll
	static void close() throws Exception {
		driver.deregister();
		client.shutdown();
		FileSystemUtils.deleteRecursively(folder);
	}

	@BeforeEach
	void empty() throws IOException {
		redis.flushall();
		FileSystemUtils.deleteRecursively(folder);
		Files.createDirectories(folder.resolve("events"));
	}

	@Test
	void aFolderOfFilesIsLoadedByTheRecipe() {
		for (int file = 0; file < 3; file++) {
			write("SELECT n AS id, 'name ' || n AS name FROM range(" + file * 10_000 + ", " + (file + 1) * 10_000
					+ ") AS t(n)", "events/" + file + ".parquet");
		}
		JsonNode report = load("events&op=HSET&key=event:{id}");
		assertThat(Answer.counts(report)).isEqualTo(new Counts(30_000, 30_000, 0, 0, 0, 0));
		assertThat(redis.dbsize()).isEqualTo(30_000);
		assertThat(redis.hgetall("event:29999")).isEqualTo(Map.of("id", "29999", "name", "name 29999"));
	}

	@Test
	void aParameterLimitsTheRowsOfAFile() {
		write("SELECT n AS id FROM range(100) AS t(n)", this.file);
		assertThat(Answer.counts(load("since" + param() + "&param.first=90&op=SET&key=k:{id}&value=v")).applied())
			.isEqualTo(10);
		assertThat(redis.keys("*")).hasSize(10).contains("k:90", "k:99");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
			127::TINYINT                                | 127
			18446744073709551615::UBIGINT               | 18446744073709551615
			99999999999999999999999999999999999999::DECIMAL(38,0) | 99999999999999999999999999999999999999
			1234567890123456789.10::DECIMAL(30,2)       | 1234567890123456789.10
			0.1::FLOAT                                  | 0.1
			3::DOUBLE                                   | 3
			'NaN'::DOUBLE                               | NaN
			true                                        | true
			'a "quoted" \\ text'                        | a "quoted" \\ text
			'\u20ac \uD83D\uDE00'                       | \u20ac \uD83D\uDE00
			DATE '2026-11-28'                           | 2026-11-28
			TIME '10:00:00'                             | 10:00:00
			TIME '10:00:00.5'                           | 10:00:00.5
			TIMESTAMP '2026-11-28 10:00:00'             | 2026-11-28T10:00:00
			TIMESTAMP '2026-11-28 10:00:00.123456'      | 2026-11-28T10:00:00.123456
			'2026-11-28 10:00:00+02'::TIMESTAMPTZ       | 2026-11-28T08:00:00Z
			uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' | a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11
			[1, 2, NULL]                                | [1,2,null]
			['a', 'b "c"']                              | ["a","b \\"c\\""]
			[[1], [2, 3]]                               | [[1],[2,3]]
			{'city': 'Berlin', 'no': 7}                 | {"city":"Berlin","no":7}
			MAP {'a': 1, 'b': 2}                        | {"a":1,"b":2}
			[{'a': [1]}]                                | [{"a":[1]}]
			'green'::ENUM ('red', 'green')              | green
			'{"a": [1, 2]}'::JSON                       | {"a":[1,2]}
			""")
	void aValueIsWhatItsTypeSays(String sql, String expected) {
		write("SELECT 1 AS id, " + sql + " AS v", this.file);
		assertThat(Answer.counts(load("one" + param() + "&op=SET&key=k:{id}&value={v}")).applied()).isEqualTo(1);
		assertThat(redis.get("k:1")).isEqualTo(expected);
	}

	@Test
	void bytesListsAndStructsReachTheTemplates() {
		write("SELECT 1 AS id, unhex('00ff22c3220a5c80') AS image, ['red', 'green'] AS tags,"
				+ " [0.5, -1]::FLOAT[2] AS vector, {'city': {'name': 'Berlin'}} AS address, NULL::TEXT AS nothing",
				this.file);
		JsonNode report = load(
				"one" + param() + "&command=SET%20image:{id}%20{image}&command=SADD%20tags:{id}%20{tags...}"
						+ "&command=HSET%20h:{id}%20v%20{vector:f32}%20c%20{address.city.name}");
		assertThat(Answer.counts(report).applied()).isEqualTo(3);
		assertThat(value(bytes.get(utf8("image:1")))).isEqualTo("00ff22c3220a5c80");
		assertThat(redis.smembers("tags:1")).containsExactlyInAnyOrder("red", "green");
		assertThat(bytes.hget(utf8("h:1"), utf8("v")))
			.isEqualTo(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putFloat(0.5f).putFloat(-1).array());
		assertThat(redis.hget("h:1", "c")).isEqualTo("Berlin");
	}

	@Test
	void aNullIsWhatNullsSay() {
		write("SELECT 1 AS id, NULL::INTEGER AS v", this.file);
		assertThat(Answer.counts(load("one" + param() + "&op=HSET&key=k:{id}&fields=id,v")).rejected()).isEqualTo(1);
		load("one" + param() + "&op=HSET&key=k:{id}&fields=id,v&nulls=skip");
		assertThat(redis.hgetall("k:1")).isEqualTo(Map.of("id", "1"));
		redis.del("k:1");
		load("one" + param() + "&op=HSET&key=k:{id}");
		assertThat(redis.hgetall("k:1")).isEqualTo(Map.of("id", "1"));
	}

	@Test
	void aFileThatIsNotThereEndsTheJob() {
		Answer answer = this.service.post(path("one" + param() + "&op=SET&key=k:{id}&value=v"));
		answer.job(502, "source-failed", "failed");
		assertThat(answer.json().get("detail").asString()).contains("No files found");
	}

	private static byte[] utf8(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String value(byte[] found) {
		return HexFormat.of().formatHex(found);
	}

	/** DuckDB writes the rows of a query into a file. */
	private static void write(String sql, String file) {
		try (Connection connection = Objects.requireNonNull(DriverManager.getConnection("jdbc:duckdb:"));
				Statement statement = connection.createStatement()) {
			statement.execute("COPY (" + sql + ") TO '" + folder.resolve(file) + "' (FORMAT parquet)");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private String param() {
		return "&param.file=" + folder.resolve(this.file);
	}

	private JsonNode load(String query) {
		return this.service.post(path(query)).report();
	}

	private static String path(String query) {
		return "/v1/jobs?from=query&source=" + query.replace("{", "%7B").replace("}", "%7D");
	}

}
