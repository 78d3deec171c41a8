package io.pipeset.web.source;

import java.net.http.HttpRequest.BodyPublishers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Replica;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The rows of a query in PostgreSQL are the records of a job. */
@ServiceTest(properties = { "pipeset.sources.timeout=5s",
		"pipeset.sources.queries.numbers.sql=SELECT n AS id, 'name ' || n AS name FROM generate_series(1, :last) AS n",
		"pipeset.sources.queries.types.sql=SELECT * FROM types",
		"pipeset.sources.queries.products.sql=SELECT sku, name, updated FROM products WHERE updated >= :since ORDER BY sku",
		"pipeset.sources.queries.slow.sql=SELECT 1 AS id, pg_sleep(3600)::text AS name",
		"pipeset.sources.queries.limited.sql=SELECT 1 AS id, pg_sleep(3600)::text AS name",
		"pipeset.sources.queries.limited.timeout=1s",
		"pipeset.sources.queries.late.sql=SELECT n AS id, (CASE WHEN n = 3 THEN pg_sleep(3600) END)::text AS name"
				+ " FROM generate_series(1, 5) AS n",
		"pipeset.sources.queries.late.fetch-size=1", "pipeset.sources.queries.late.max-connections=1",
		"pipeset.sources.queries.latelimited.sql=SELECT n AS id, (CASE WHEN n = 3 THEN pg_sleep(3600) END)::text AS name"
				+ " FROM generate_series(1, 5) AS n",
		"pipeset.sources.queries.latelimited.fetch-size=1", "pipeset.sources.queries.latelimited.timeout=1s",
		"pipeset.sources.queries.nodriver.url=jdbc:foo:scott/tigersecret@db.example?token=secrettoken&password=secretpassword",
		"pipeset.sources.queries.nodriver.sql=SELECT 1 AS id",
		"pipeset.sources.queries.writes.sql=INSERT INTO products VALUES ('x', 'x', now()) RETURNING sku AS id",
		"pipeset.sources.queries.broken.sql=SELECT 1 / (3 - n) AS id FROM generate_series(1, 5) AS n",
		"pipeset.sources.queries.broken.fetch-size=1",
		"pipeset.sources.queries.twins.sql=SELECT 1 AS id, 2 AS id, 3 AS other",
		"pipeset.sources.queries.typed.sql=SELECT :id::int AS id", "pipeset.sources.queries.typed.password=syntax",
		"pipeset.sources.queries.typed.username=postgres",
		"pipeset.sources.queries.away.url=jdbc:postgresql://127.0.0.1:1/shop?password=secretpassword",
		"pipeset.sources.queries.away.sql=SELECT 1 AS id" })
class QuerySourceTests {

	private static final TestPostgres postgres = TestPostgres.start();

	private static final RedisCommands<String, String> redis = TestRedis.shared().client();

	private static final RedisClient client = RedisClient.create(TestRedis.shared().uri());

	private static final RedisCommands<byte[], byte[]> bytes = client.connect(ByteArrayCodec.INSTANCE).sync();

	private final Service service;

	QuerySourceTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void database(DynamicPropertyRegistry properties) {
		postgres.addTo(properties, "numbers", "types", "products", "slow", "limited", "writes", "broken", "twins",
				"late", "latelimited", "quoted");
		properties.add("pipeset.sources.queries.quoted.sql",
				() -> "SELECT :id::int AS id, $q$it's $$ :no ?$q$ || E' \\':no' || ' \\' || :name || ' :no'"
						+ " AS name -- $$ :no\n /* /* it's :no */ :no */");
		properties.add("pipeset.sources.queries.typed.url", postgres::url);
	}

	@AfterAll
	static void close() {
		postgres.close();
		client.shutdown();
	}

	@BeforeEach
	void emptyRedis() {
		redis.flushall();
		postgres.run("DROP TABLE IF EXISTS products, types",
				"CREATE TABLE products (sku text PRIMARY KEY, name text, updated timestamptz)");
	}

	@Test
	void rowsBecomeHashesAndReplaceTheOldOnes() {
		postgres
			.run("INSERT INTO products SELECT 'p' || n, 'name ' || n, '2026-01-01T00:00Z'::timestamptz + n * '1 day'"
					+ "::interval FROM generate_series(0, 99) AS n");
		redis.set("product:old", "v");
		JsonNode report = load(
				"products&param.since=2026-01-11T00:00:00Z&op=HSET&key=product:{sku}" + "&replace=product:*");
		assertThat(Answer.counts(report)).isEqualTo(new Counts(90, 90, 0, 0, 0, 0));
		assertThat(redis.keys("*")).hasSize(90).doesNotContain("product:old", "product:p9");
		assertThat(redis.hgetall("product:p10"))
			.isEqualTo(Map.of("sku", "p10", "name", "name 10", "updated", "2026-01-11T00:00:00Z"));
		assertThat(report.at("/settings/from").asString()).isEqualTo("query");
		assertThat(report.at("/settings/source").asString()).isEqualTo("products");
		assertThat(report.at("/settings/param.since").asString()).isEqualTo("2026-01-11T00:00:00Z");
	}

	@Test
	void theFirstRowsAreATrial() {
		String trial = "numbers&param.last=100000000&op=SET&key=n:{id}&value={name}&limit=3";
		JsonNode report = load(trial + "&dryRun=true&results=all");
		assertThat(report.at("/wouldRun").asInt()).isEqualTo(3);
		assertThat(report.at("/items/2/command").toString()).isEqualTo("[\"SET\",\"n:3\",\"name 3\"]");
		assertThat(Answer.counts(load(trial))).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
	}

	@Test
	void manyRowsComeThroughACursor() {
		JsonNode report = load("numbers&param.last=100000&op=SET&key=n:{id}&value={name}");
		assertThat(Answer.counts(report).applied()).isEqualTo(100_000);
		assertThat(redis.get("n:77777")).isEqualTo("name 77777");
	}

	/** The first ten rows are more than the driver may hold. */
	@Test
	void rowsThatDoNotFitIntoTheBufferOfTheDriverEndTheJob() {
		postgres
			.run("CREATE TABLE types AS SELECT n AS id, repeat('x', 2000000) AS v FROM generate_series(1, 20) AS n");
		Answer answer = post("types&op=SET&key=k:{id}&value={v}");
		answer.job(502, "source-failed", "failed");
		assertThat(answer.json().get("detail").asString()).contains("maxResultBuffer");
	}

	@Test
	void largeRowsComeInSmallParts() {
		postgres
			.run("CREATE TABLE types AS SELECT n AS id, repeat('x', 1000000) AS v FROM generate_series(1, 60) AS n");
		assertThat(Answer.counts(load("types&op=SET&key=k:{id}&value={v}")).applied()).isEqualTo(60);
	}

	@Test
	void textsAndCommentsOfAQueryHaveNoParameters() {
		load("quoted&param.id=7&param.name=x&op=SET&key=k:{id}&value={name}");
		assertThat(redis.get("k:7")).isEqualTo("it's $$ :no ? ':no \\x :no");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
			smallint        | 7                                   | 7
			bigint          | -9223372036854775808                | -9223372036854775808
			numeric         | 1234567890123456789.10              | 1234567890123456789.10
			numeric         | 1e30                                | 1000000000000000000000000000000
			real            | 0.1                                 | 0.1
			float8          | 3                                   | 3
			float8          | '-0'                                | -0.0
			float8          | 'NaN'                               | NaN
			boolean         | true                                | true
			text            | 'a "quoted" \\ text'                | a "quoted" \\ text
			text            | ''                                  | ^^
			char(3)         | 'ab'                                | ^ab ^
			date            | '2026-11-28'                        | 2026-11-28
			time            | '10:00'                             | 10:00:00
			time            | '10:00:00.500'                      | 10:00:00.5
			time            | '24:00'                             | 24:00:00
			timestamp       | '2026-11-28 10:00'                  | 2026-11-28T10:00:00
			timestamptz     | '2026-11-28 10:00+02'               | 2026-11-28T08:00:00Z
			timestamptz     | '2026-11-28 10:00:00.123456+00'     | 2026-11-28T10:00:00.123456Z
			uuid            | 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' | a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11
			jsonb           | '{"a": [1, 2]}'                     | {"a":[1,2]}
			json            | E'{\\n "a": 1}'                     | {"a":1}
			int[]           | '{1,2,null}'                        | [1,2,null]
			text[]          | '{a,"b c","d\\"e"}'                 | ["a","b c","d\\"e"]
			int[][]         | '{{1,2},{3,4}}'                     | [[1,2],[3,4]]
			interval        | '1 day'                             | 1 day
			inet            | '10.0.0.1'                          | 10.0.0.1
			money           | '1234.50'                           | $1,234.50
			timetz          | '10:00:00.25+05:30'                 | 04:30:00.25Z
			date[]          | '{infinity,2026-11-28,null}'        | ["infinity","2026-11-28",null]
			timestamp[]     | '{-infinity,2026-03-29 02:30}'      | ["-infinity","2026-03-29T02:30:00"]
			timestamptz[]   | '{infinity,1500-01-01 00:00+00}'    | ["infinity","1500-01-01T00:00:00Z"]
			timestamptz[][] | '{{2026-11-28 10:00+02},{null}}'    | [["2026-11-28T08:00:00Z"],[null]]
			time[]          | '{10:00:00.5,24:00}'                | ["10:00:00.5","24:00:00"]
			timetz[]        | '{10:00+02}'                        | ["08:00:00Z"]
			jsonb[]         | array['{"a": 1}'::jsonb]            | [{"a":1}]
			interval[]      | '{1 day}'                           | ["1 day"]
			numeric[]       | '{1.50,NaN}'                        | [1.50,"NaN"]
			bytea[]         | array['\\x4f6b'::bytea]             | ["T2s="]
			money[]         | '{1234.50}'                         | ["$1,234.50"]
			bit(3)[]        | '{101}'                             | ["101"]
			date[]          | '{}'                                | []
			bit(3)          | '101'                               | 101
			timestamptz     | 'infinity'                          | infinity
			timestamp       | '-infinity'                         | -infinity
			date            | 'infinity'                          | infinity
			timestamptz[]   | '{2026-11-28 10:00+02}'             | ["2026-11-28T08:00:00Z"]
			""")
	void aValueIsWhatItsTypeSays(String type, String sql, String expected) {
		postgres.run("CREATE TABLE types AS SELECT 1 AS id, (" + sql + ")::" + type + " AS v");
		assertThat(Answer.counts(load("types&op=SET&key=k:{id}&value={v}")).applied()).isEqualTo(1);
		assertThat(redis.get("k:1")).isEqualTo(expected);
	}

	@Test
	void constantsNeedNoColumnAndAQueryWithoutColumnsIsRefused() {
		postgres.run("CREATE TABLE types AS SELECT n AS id FROM generate_series(1, 3) AS n");
		assertThat(Answer.counts(load("types&command=SET%20row:{@index}%20v")).applied()).isEqualTo(3);
		postgres.run("DROP TABLE types", "CREATE TABLE types ()", "INSERT INTO types DEFAULT VALUES");
		Answer answer = post("types&command=SET%20row:{@index}%20v");
		answer.job(502, "source-failed", "failed");
		assertThat(answer.json().get("detail").asString()).contains("The query 'types' has no columns");
		assertThat(redis.keys("*")).containsExactlyInAnyOrder("row:0", "row:1", "row:2");
	}

	@Test
	void controlCharactersAndOtherAlphabetsStayAsTheyAre() {
		postgres.run("CREATE TABLE types AS SELECT 1 AS id, E'two\\nlines\\t\\u20ac \\U0001F600 \\x7f'::text AS v");
		load("types&op=SET&key=k:{id}&value={v}");
		assertThat(redis.get("k:1")).isEqualTo("two\nlines\t\u20ac \ud83d\ude00 \u007f");
	}

	@Test
	void bytesArraysAndNestedValuesReachTheTemplates() {
		postgres.run("CREATE TABLE types AS SELECT 1 AS id, '\\x00ff22c3220a5c80'::bytea AS image,"
				+ " '{red,green}'::text[] AS tags, '{0.5,-1}'::float4[] AS vector,"
				+ " '{\"color\": {\"name\": \"blue\"}}'::jsonb AS attrs, NULL::text AS nothing");
		JsonNode report = load("types&command=SET%20image:{id}%20{image}"
				+ "&command=SADD%20tags:{id}%20{tags...}&command=HSET%20h:{id}%20v%20{vector:f32}%20c%20{attrs.color.name}"
				+ "&command=HSET%20all:{id}%20{*...}");
		assertThat(Answer.counts(report).applied()).isEqualTo(4);
		assertThat(bytes.hget("all:1".getBytes(StandardCharsets.UTF_8), "image".getBytes(StandardCharsets.UTF_8)))
			.isEqualTo(bytes.get("image:1".getBytes(StandardCharsets.UTF_8)));
		assertThat(redis.hkeys("all:1")).containsExactlyInAnyOrder("id", "image", "tags", "vector", "attrs");
		assertThat(bytes.get("image:1".getBytes(StandardCharsets.UTF_8)))
			.isEqualTo(new byte[] { 0, -1, 0x22, (byte) 0xc3, 0x22, 0x0a, 0x5c, (byte) 0x80 });
		assertThat(redis.smembers("tags:1")).containsExactlyInAnyOrder("red", "green");
		assertThat(bytes.hget("h:1".getBytes(StandardCharsets.UTF_8), "v".getBytes(StandardCharsets.UTF_8)))
			.isEqualTo(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putFloat(0.5f).putFloat(-1).array());
		assertThat(redis.hget("h:1", "c")).isEqualTo("blue");
	}

	@Test
	void aWholeRowIsJson() {
		postgres.run("CREATE TABLE types AS SELECT 1 AS id, '\\xff'::bytea AS image, NULL::text AS nothing, true AS t");
		load("types&op=SET&key=row:{id}&value={*}");
		assertThat(redis.get("row:1")).isEqualTo("{\"id\":1,\"image\":\"/w==\",\"nothing\":null,\"t\":true}");
	}

	@Test
	void aNullIsWhatNullsSay() {
		postgres.run("INSERT INTO products VALUES ('a', NULL, now())");
		String query = "products&param.since=2020-01-01&op=HSET&key=product:{sku}&fields=name";
		assertThat(Answer.counts(load(query + "&nulls=empty")).applied()).isEqualTo(1);
		assertThat(redis.hgetall("product:a")).isEqualTo(Map.of("name", ""));
		assertThat(Answer.counts(load(query)).rejected()).isEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^',
			textBlock = """
					writes&op=SET&key={id}&value=v     | read-only transaction
					broken&op=SET&key=k:{id}&value=v   | division by zero
					limited&op=SET&key={id}&value=v    | took longer than its timeout of 1s
					latelimited&op=SET&key=k:{id}&value=v | took longer than its timeout of 1s
					nodriver&op=SET&key={id}&value=v   | No suitable driver
					away&op=SET&key={id}&value=v       | the database cannot be reached
					numbers&param.last=x&op=SET&key={id}&value=v | invalid input syntax
					numbers&param.last=1&op=SET&key={nome}&value=v | has no column 'nome', which 'key' names; it has 'id', 'name'
					twins&op=HSET&key={other}          | has two columns 'id'
					""")
	void aQueryThatFailsEndsTheJobWithItsAccount(String query, String reason) {
		Answer answer = post(query);
		JsonNode job = answer.job(502, "source-failed", "failed");
		assertThat(answer.json().get("detail").asString()).contains(reason);
		assertThat(answer.text()).doesNotContain(TestDatabase.PASSWORD, "tigersecret", "secrettoken");
		long read = job.get("nextIndex").asLong();
		assertThat(read).isEqualTo((query.startsWith("broken") || query.startsWith("late")) ? 2 : 0);
		assertThat(redis.dbsize()).isEqualTo(Answer.counts(job).applied()).isEqualTo(read);
		assertThat(postgres.ask("SELECT count(*) FROM products")).isEqualTo("0");
	}

	@Test
	void aCancelledJobCancelsItsQuery() {
		Answer begun = this.service.send(this.service.request(path("slow&op=SET&key={id}&value=v"))
			.header("Prefer", "respond-async")
			.POST(BodyPublishers.noBody()));
		String location = begun.headers().firstValue("Location").orElseThrow();
		await().until(() -> sleepers().equals("1"));
		this.service.delete(location);
		await().until(() -> this.service.get(location).json().at("/state").asString().equals("cancelled"));
		await().until(() -> sleepers().equals("0"));
	}

	/** So it is after a partition of the network: a cancel has no effect. */
	@Test
	void aCancelledJobEndsThoughItsDatabaseIsSilent() throws Exception {
		String location = begin("slow&op=SET&key={id}&value=v");
		await().until(() -> sleepers().equals("1"));
		String backend = postgres.ask("SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)%'"
				+ " AND pid <> pg_backend_pid()");
		signal("-STOP", backend);
		try {
			this.service.delete(location);
			await().until(() -> this.service.get(location).json().at("/state").asString().equals("cancelled"));
		}
		finally {
			signal("-CONT", backend);
		}
		await().until(() -> sleepers().equals("0"));
	}

	private static void signal(String signal, String process) throws Exception {
		assertThat(new ProcessBuilder("kill", signal, process).start().waitFor()).isZero();
	}

	/** The driver of PostgreSQL ends a later fetch only by its connection. */
	@Test
	void aCancelEndsALaterFetchAndOneThatWaitsForAConnection() {
		String first = begin("late&op=SET&key=k:{id}&value=v&batchSize=1");
		await().until(() -> redis.exists("k:2") == 1);
		String second = begin("late&op=SET&key=k:{id}&value=v");
		await().until(() -> this.service.get(second).json().at("/state").asString().equals("running"));
		for (String location : new String[] { second, first }) {
			this.service.delete(location);
			await().until(() -> this.service.get(location).json().at("/state").asString().equals("cancelled"));
		}
	}

	private String begin(String query) {
		return this.service
			.send(this.service.request(path(query)).header("Prefer", "respond-async").POST(BodyPublishers.noBody()))
			.headers()
			.firstValue("Location")
			.orElseThrow();
	}

	private static String sleepers() {
		return postgres.ask(
				"SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT 1 AS id, pg_sleep%'");
	}

	@Test
	void aDatabaseThatIsLostEndsTheJobWithItsAccount() {
		Answer begun = this.service.send(this.service
			.request(path("numbers&param.last=1000000&op=SET&key=n:{id}&value=v&rateLimit=5000&batchSize=100"))
			.header("Prefer", "respond-async")
			.POST(BodyPublishers.noBody()));
		String location = begun.headers().firstValue("Location").orElseThrow();
		await().until(() -> this.service.get(location).json().at("/counts/applied").asInt() > 0);
		postgres.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%generate_series(1%'"
				+ " AND pid <> pg_backend_pid()");
		await().until(() -> this.service.get(location).json().at("/state").asString().equals("failed"));
		JsonNode job = this.service.get(location).json();
		assertThat(job.at("/ending/type").asString()).endsWith("source-failed");
		assertThat(redis.dbsize()).isEqualTo(job.at("/counts/applied").asLong())
			.isEqualTo(job.at("/nextIndex").asLong());
		assertThat(Answer.counts(load("numbers&param.last=10&op=SET&key=n:{id}&value=v")).applied()).isEqualTo(10);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '^',
			textBlock = """
					/v1/jobs?from=query&op=SET&key=k            | 'source' is missing
					/v1/jobs?from=query&source=numbers&op=SET&key=k&value=v | 'param.last' is missing
					/v1/jobs?from=query&source=types&param.x=1&op=SET&key=k&value=v | 'param.x' is no parameter of the query 'types'; it has none
					/v1/jobs?from=query&source=types&op=SET     | 'key' is missing
					/v1/jobs?source=types                       | 'source' has a meaning only with from=query
					/v1/jobs?from=query&source=types&op=SET&key=k&value=v&delimiter=; | 'delimiter' has a meaning only
					""")
	void aWrongParameterIsRefused(String query, String reason) {
		Answer answer = this.service.post(query);
		assertThat(answer.status()).isEqualTo(400);
		assertThat(answer.json().get("detail").asString()).contains(reason);
	}

	@Test
	void aReasonThatMayHaveThePasswordIsInTheLogWithoutIt() {
		Logger logger = (Logger) LoggerFactory.getLogger("io.pipeset.input.source.Database");
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		logger.addAppender(log);
		logger.setLevel(Level.WARN);
		Answer answer = this.service.post(path("typed&param.id=abc&op=SET&key=k:{id}&value=v"));
		assertThat(answer.text()).contains("The reason is in the log").doesNotContain("syntax");
		logger.setLevel(null);
		logger.detachAppender(log);
		assertThat(log.list).extracting(ILoggingEvent::getFormattedMessage)
			.singleElement()
			.asString()
			.startsWith("The query 'typed' failed: ERROR: invalid input *** for type integer: \"abc\"");
	}

	@Test
	void aClientHasTheQueriesOfItsOwn() {
		try (Replica replica = Replica.start(TestRedis.shared(), TestRedis.shared().properties(),
				"pipeset.sources.queries.one.url=" + postgres.url(), "pipeset.sources.queries.one.username=postgres",
				"pipeset.sources.queries.one.sql=SELECT 1 AS id",
				"pipeset.clients.orders.key-sha256=9d00f085fa34266c949e527a29d62334c2aa67b652266e3e42de6cbcdeab2144",
				"pipeset.clients.orders.sources=one",
				"pipeset.clients.billing.key-sha256=f7c28d1179e4b9f9b5df3f63b32285089c8f28b69f930e0a4e0e4b43e23d6ca6")) {
			assertThat(replica.service().as("key-of-orders").get("/v1/sources").json().toString())
				.isEqualTo("{\"urls\":[],\"queries\":[{\"name\":\"one\",\"parameters\":[]}]}");
			String path = path("one&op=SET&key=k:{id}&value=v");
			assertThat(Answer.counts(replica.service().as("key-of-orders").post(path).report()).applied()).isEqualTo(1);
			assertThat(replica.service().as("key-of-billing").post(path).refusal(403, "forbidden"))
				.contains("pipeset.clients.billing.sources allows none");
			assertThat(replica.service().as("key-of-orders").post(path.replace("one", "two")).refusal(404, "not-found"))
				.isEqualTo("There is no query 'two'; this client may use one");
		}
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
