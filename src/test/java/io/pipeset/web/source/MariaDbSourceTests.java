package io.pipeset.web.source;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;

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
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The rows of a query in MariaDB are the records of a job, by the driver that the service
 * carries. Without MariaDB on this machine the tests are skipped.
 */
@EnabledIf(value = "io.pipeset.web.source.TestMariaDb#isInstalled", disabledReason = "there is no MariaDB")
@ServiceTest(properties = { "pipeset.sources.timeout=5s", "pipeset.sources.queries.types.sql=SELECT * FROM types",
		"pipeset.sources.queries.numbers.sql=SELECT seq AS id, CONCAT('name ', seq) AS name FROM seq_1_to_1000000"
				+ " WHERE seq <= :last",
		"pipeset.sources.queries.products.sql=SELECT sku, name, updated FROM products"
				+ " WHERE updated >= :since AND name LIKE :pattern AND updated < ADDDATE(:since, 2) ORDER BY sku",
		"pipeset.sources.queries.writes.sql=INSERT INTO products VALUES ('x', 'x', NOW()) RETURNING sku AS id",
		"pipeset.sources.queries.slow.sql=SELECT 1 AS id, SLEEP(3600) AS name",
		"pipeset.sources.queries.limited.sql=SELECT 1 AS id, SLEEP(3600) AS name",
		"pipeset.sources.queries.limited.timeout=1s",
		"pipeset.sources.queries.late.sql=SELECT seq AS id, IF(seq = 20000, SLEEP(3600), 0) AS name FROM seq_1_to_30000",
		"pipeset.sources.queries.late.max-connections=1", "pipeset.sources.queries.late.fetch-size=100",
		"pipeset.sources.queries.latelimited.sql=SELECT seq AS id, IF(seq = 20000, SLEEP(3600), 0) AS name"
				+ " FROM seq_1_to_30000",
		"pipeset.sources.queries.latelimited.timeout=1s", "pipeset.sources.queries.wrong.sql=SELECT 1 AS id",
		"pipeset.sources.queries.wrongurl.sql=SELECT 1 AS id", "pipeset.sources.queries.syntax.sql=SELEC 1 AS id",
		"pipeset.sources.queries.gone.sql=SELECT 1 AS id FROM nosuchtable" })
class MariaDbSourceTests {

	private static final TestMariaDb mariadb = TestMariaDb.start();

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	private static final RedisClient client = RedisClient.create(TestRedis.shared().uri());

	private static final RedisCommands<byte[], byte[]> bytes = client.connect(ByteArrayCodec.INSTANCE).sync();

	private final Service service;

	MariaDbSourceTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void database(DynamicPropertyRegistry properties) {
		mariadb.addTo(properties, "types", "numbers", "products", "writes", "slow", "limited", "late", "latelimited",
				"syntax", "gone", "quoted");
		properties.add("pipeset.sources.queries.quoted.sql",
				() -> "SELECT 7--:id AS id, CONCAT('it\\'s :no ? ', \"\\\" :no \", :name) AS name # it's :no");
		properties.add("pipeset.sources.queries.wrong.url", mariadb::url);
		properties.add("pipeset.sources.queries.wrong.username", mariadb::user);
		properties.add("pipeset.sources.queries.wrong.password", () -> "wrongsecret");
		properties.add("pipeset.sources.queries.wrongurl.url",
				() -> mariadb.url() + "?user=" + mariadb.user() + "&password=wrongsecret");
	}

	@AfterAll
	static void close() {
		mariadb.close();
		client.shutdown();
	}

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
		mariadb.run("DROP TABLE IF EXISTS products, types",
				"CREATE TABLE products (sku varchar(20) PRIMARY KEY, name text, updated datetime)");
	}

	@Test
	void textsAndCommentsOfAQueryHaveNoParameters() {
		load("quoted&param.id=7&param.name=x&op=SET&key=k:{id}&value={name}");
		assertThat(redis.get("k:14")).isEqualTo("it's :no ? \" :no x");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
			tinyint             | -7                             | -7
			tinyint unsigned    | 255                            | 255
			tinyint(1)          | 1                              | true
			tinyint(1)          | 0                              | false
			tinyint(1)          | 2                              | true
			boolean             | TRUE                           | true
			smallint            | -32768                         | -32768
			mediumint unsigned  | 16777215                       | 16777215
			int                 | -2147483648                    | -2147483648
			int unsigned        | 4294967295                     | 4294967295
			bigint              | -9223372036854775808           | -9223372036854775808
			bigint unsigned     | 18446744073709551615           | 18446744073709551615
			int(6) zerofill     | 42                             | 42
			decimal(30,2)       | 1234567890123456789.10         | 1234567890123456789.10
			decimal(38,30)      | 0.000000000000000000000000000001 | 0.000000000000000000000000000001
			float               | 0.1                            | 0.1
			float               | 3                              | 3
			double              | 0.1                            | 0.1
			double              | -3                             | -3
			bit(1)              | b'1'                           | true
			bit(1)              | b'0'                           | false
			bit(8)              | b'01000001'                    | A
			bit(16)             | b'0100000101000010'            | AB
			char(3)             | 'ab'                           | ab
			varchar(100)        | 'a "quoted" \\\\ text'         | a "quoted" \\ text
			varchar(100)        | ''                             | ^^
			varchar(100)        | 'price \u20ac \uD83D\uDE00'    | price \u20ac \uD83D\uDE00
			longtext            | REPEAT('ab', 3)                | ababab
			json                | '{"a": [1, 2]}'                | {"a":[1,2]}
			date                | '2026-11-28'                   | 2026-11-28
			time                | '10:00:00'                     | 10:00:00
			time                | '-12:30:00'                    | -12:30:00
			time                | '838:59:59'                    | 838:59:59
			time                | '-838:59:59'                   | -838:59:59
			time(3)             | '10:00:00.500'                 | 10:00:00.5
			time(6)             | '-00:00:00.000001'             | -00:00:00.000001
			datetime            | '2026-11-28 10:00:00'          | 2026-11-28T10:00:00
			datetime(6)         | '2026-11-28 10:00:00.123456'   | 2026-11-28T10:00:00.123456
			timestamp           | '2026-11-28 10:00:00'          | 2026-11-28T10:00:00
			timestamp(3)        | '2026-11-28 10:00:00.120'      | 2026-11-28T10:00:00.12
			year                | 2026                           | 2026
			enum('red','green') | 'green'                        | green
			set('a','b','c')    | 'c,a'                          | a,c
			uuid                | 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' | a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11
			inet6               | '2001:db8::1'                  | 2001:db8::1
			""")
	void aValueIsWhatItsTypeSays(String type, String sql, String expected) {
		mariadb.run("CREATE TABLE types (id int, v " + type + ")", "INSERT INTO types VALUES (1, " + sql + ")");
		assertThat(Answer.counts(load("types&op=SET&key=k:{id}&value={v}")).applied()).isEqualTo(1);
		assertThat(redis.get("k:1")).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(strings = { "blob", "longblob", "tinyblob", "binary(10)", "varbinary(10)", "bit(64)" })
	void bytesAreExactlyTheSameInRedis(String type) {
		String hex = (type.startsWith("bit")) ? "ff00ff22c3220a5c" : "00ff22c3220a5c800d7f";
		mariadb.run("CREATE TABLE types (id int, v " + type + ")", "INSERT INTO types VALUES (1, x'" + hex + "')");
		load("types&op=SET&key=k:{id}&value={v}");
		assertThat(bytes.get("k:1".getBytes(StandardCharsets.UTF_8))).isEqualTo(HexFormat.of().parseHex(hex));
	}

	@Test
	void everyByteOfABlobIsTheSame() {
		byte[] all = new byte[256];
		for (int i = 0; i < all.length; i++) {
			all[i] = (byte) i;
		}
		mariadb.run("CREATE TABLE types (id int, v blob)",
				"INSERT INTO types VALUES (1, x'" + HexFormat.of().formatHex(all) + "')");
		load("types&op=SET&key=k:{id}&value={v}");
		assertThat(bytes.get("k:1".getBytes(StandardCharsets.UTF_8))).isEqualTo(all);
	}

	@ParameterizedTest
	@ValueSource(strings = { "int", "bigint unsigned", "tinyint(1)", "bit(1)", "bit(8)", "decimal(5,2)", "double",
			"text", "blob", "json", "date", "time", "datetime", "year", "enum('a')", "set('a')", "uuid" })
	void aNullOfEachTypeIsWhatNullsSay(String type) {
		mariadb.run("CREATE TABLE types (id int, v " + type + ")", "INSERT INTO types VALUES (1, NULL)");
		String query = "types&op=HSET&key=k:{id}&fields=v";
		assertThat(Answer.counts(load(query)).rejected()).isEqualTo(1);
		assertThat(Answer.counts(load(query + "&nulls=empty")).applied()).isEqualTo(1);
		assertThat(redis.hgetall("k:1")).isEqualTo(Map.of("v", ""));
	}

	@ParameterizedTest
	@ValueSource(strings = { "date", "datetime" })
	void aZeroDateIsNull(String type) {
		mariadb.run("SET sql_mode = ''", "CREATE TABLE types (id int, v " + type + ")",
				"INSERT INTO types VALUES (1, '0000-00-00')");
		load("types&op=HSET&key=k:{id}&nulls=skip");
		assertThat(redis.hgetall("k:1")).isEqualTo(Map.of("id", "1"));
	}

	@Test
	void aDateWithAMonthOfZeroIsATextOfTheDatabase() {
		mariadb.run("SET sql_mode = ''", "CREATE TABLE types (id int, v date)",
				"INSERT INTO types VALUES (1, '2026-00-15')");
		load("types&op=SET&key=k:{id}&value={v}");
		assertThat(redis.get("k:1")).isEqualTo("2026-00-15");
	}

	@Test
	void namedParametersAreFilledInWhereverTheyStand() {
		mariadb.run("INSERT INTO products SELECT CONCAT('p', seq), CONCAT('it''s ', seq), ADDDATE('2026-01-01', seq)"
				+ " FROM seq_0_to_99");
		JsonNode report = load("products&param.since=2026-01-11&param.pattern=it's%25&op=HSET&key=product:{sku}");
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(redis.hgetall("product:p10"))
			.isEqualTo(Map.of("sku", "p10", "name", "it's 10", "updated", "2026-01-11T00:00:00"));
		assertThat(report.at("/settings/param.pattern").asString()).isEqualTo("it's%");
	}

	@Test
	void aParameterIsNoPartOfTheSql() {
		mariadb.run("INSERT INTO products VALUES ('a', 'a', '2026-01-01')");
		String injected = "x'%20OR%20'1'='1";
		assertThat(Answer
			.counts(load("products&param.since=2026-01-01&param.pattern=" + injected + "&op=HSET&key=product:{sku}")))
			.isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
	}

	@Test
	void manyRowsComeThroughACursor() {
		JsonNode report = load("numbers&param.last=50000&op=SET&key=n:{id}&value={name}");
		assertThat(Answer.counts(report)).isEqualTo(new Counts(50_000, 50_000, 0, 0, 0, 0));
		assertThat(redis.dbsize()).isEqualTo(50_000);
		assertThat(redis.get("n:49999")).isEqualTo("name 49999");
	}

	/** The rows are in Redis while the database still looks for the others. */
	@Test
	void aCancelInTheMiddleEndsTheQueryAndGivesItsConnectionBack() {
		String location = begin("late&op=SET&key=k:{id}&value=v&batchSize=100");
		await().until(() -> redis.exists("k:1000") == 1);
		await().until(() -> sleepers().equals("1"));
		cancel(location);
		await().until(() -> sleepers().equals("0"));
		JsonNode job = this.service.get(location).json();
		assertThat(redis.dbsize()).isEqualTo(Answer.counts(job).applied()).isBetween(1000L, 19_999L);
		String next = begin("late&op=SET&key=again:{id}&value=v&batchSize=100");
		await().until(() -> redis.exists("again:1000") == 1);
		cancel(next);
	}

	@Test
	void aCancelEndsAQueryThatHasNoRowYet() {
		String location = begin("slow&op=SET&key={id}&value=v");
		await().until(() -> sleepers().equals("1"));
		cancel(location);
		await().until(() -> sleepers().equals("0"));
		assertThat(redis.dbsize()).isZero();
	}

	private void cancel(String location) {
		this.service.delete(location);
		await().until(() -> this.service.get(location).json().at("/state").asString().equals("cancelled"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			limited     | took longer than its timeout of 1s
			latelimited | took longer than its timeout of 1s
			syntax      | You have an error in your SQL syntax
			gone        | nosuchtable
			writes      | READ ONLY
			""")
	void aQueryThatFailsEndsTheJobWithItsAccount(String query, String reason) {
		Answer answer = post(query + "&op=SET&key=k:{id}&value=v");
		JsonNode job = answer.job(502, "source-failed", "failed");
		assertThat(answer.json().get("detail").asString()).contains(reason);
		assertThat(answer.text()).doesNotContain(TestMariaDb.PASSWORD);
		assertThat(redis.dbsize()).isEqualTo(Answer.counts(job).applied()).isEqualTo(job.at("/nextIndex").asLong());
		assertThat(mariadb.ask("SELECT COUNT(*) FROM products")).isEqualTo("0");
		await().until(() -> sleepers().equals("0"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "wrong", "wrongurl" })
	void aWrongPasswordIsNotShown(String query) {
		Answer answer = post(query + "&op=SET&key=k:{id}&value=v");
		answer.job(502, "source-failed", "failed");
		assertThat(answer.json().get("detail").asString()).contains("the database cannot be reached", "Access denied");
		assertThat(answer.text()).doesNotContain("wrongsecret");
	}

	private static String sleepers() {
		return mariadb.ask("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT%SLEEP(3600)%'"
				+ " AND id <> CONNECTION_ID()");
	}

	private String begin(String query) {
		Answer answer = this.service
			.send(this.service.request(path(query)).header("Prefer", "respond-async").POST(BodyPublishers.noBody()));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.headers().firstValue("Location").orElseThrow();
	}

	private JsonNode load(String query) {
		return post(query).report();
	}

	private Answer post(String query) {
		return this.service.post(path(query));
	}

	private static String path(String query) {
		return "/v1/jobs?from=query&source=" + query.replace("{", "%7B").replace("}", "%7D");
	}

}
