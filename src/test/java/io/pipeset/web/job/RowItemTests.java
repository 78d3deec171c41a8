package io.pipeset.web.job;

import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The items of rows that could not become records are corrected and posted again, and run
 * as their rows would have run.
 */
@ServiceTest(properties = "pipeset.spool.directory=target/spool/row-items")
class RowItemTests {

	private static final String CSV = "text/csv";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	RowItemTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void aLargeFileWithFiftyBadRowsIsLoadedCompletely() {
		this.redis.set("user:99990", "a string");
		String rows = IntStream.range(0, 100_000).mapToObj((i) -> switch ((i % 2000 == 7) ? i / 2000 % 3 : -1) {
			case 0 -> i + ",Ada\n";
			case 1 -> i + ",Ada," + i + ",soon\n";
			case 2 -> i + ",," + i + ",60s\n";
			default -> i + ",\"Name, " + i + "\"," + i + ",60s\n";
		}).collect(Collectors.joining("", "id,name,points,expires\n", ""));
		String location = load(CSV, rows, "op", "HSET", "key", "user:{id}", "fields", "name,points", "ttl",
				"{expires}");
		assertThat(counts(location)).isEqualTo(new Counts(100_000, 99_949, 0, 51, 0, 0));
		String items = items(location);
		assertThat(items.lines()).hasSize(51);
		assertThat(items.lines().limit(1)).singleElement()
			.asString()
			.startsWith("{\"raw\":\"7,Ada\",\"settings\":{\"type\":\"text/csv\",\"op\":\"HSET\",");
		this.redis.del("user:99990");
		String corrected = items.replaceAll("\"raw\":\"(\\d+),Ada\"", "\"raw\":\"$1,Ada,$1,60s\"")
			.replace(",soon\"", ",60s\"")
			.replace(",,", ",Ada,");
		assertThat(post(corrected)).isEqualTo(new Counts(51, 51, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(100_000);
		assertThat(this.redis.hgetall("user:7")).isEqualTo(Map.of("name", "Ada", "points", "7"));
		assertThat(this.redis.hgetall("user:4007")).isEqualTo(Map.of("name", "Ada", "points", "4007"));
		assertThat(this.redis.ttl("user:2007")).isBetween(1L, 60L);
		assertThat(this.redis.hgetall("user:99990")).isEqualTo(Map.of("name", "Name, 99990", "points", "99990"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					text/csv                  | id;n~1;a~x;b;c~               | op=SET key={id} value={n} delimiter=;
					text/csv                  | sep=;~id;n~1;a~x;b;c~         | op=SET key={id} value={n}
					text/csv                  | 1,a~x,b,c~                    | op=SET key={id} value={n} header=id,n
					text/csv                  | key,value~1,a~x,b,c~          | op=SET
					text/csv                  | op,key,arg1~SET,1,a~SET,x,b,c~ |
					text/csv                  | id,n~1,a~x,b,c~               | command=SET {id} {n}
					text/tab-separated-values | id\tn~1\ta~x\tb\tc~             | op=SET key={id} value={n} escape=backslash
					application/x-ndjson      | {"id":"1","n":"a"}~{"id":"x","n":null,"b":"b,c"}~ | op=SET key={id} value={n}
					application/x-ndjson      | {"op":"SET","key":"1","value":"a"}~{"key":"x","value":"b,c"}~ |
					application/x-ndjson      | {"key":"1","value":"a"}~{"key":"x","value":"b","c":1}~ | op=SET
					application/json          | [{"id":"1","n":"a"},~{"id":"x",~"n":null,"b":"b,c"}] | op=SET key={id} value={n}
					application/json          | {"1":"a","x":null} | op=SET key={@key} value={@value} rows=entries
					text/csv                  | 1,a~x,b,c~                    | op=SET key={@1} value={@2} header=absent
					text/csv                  | id,n~# c~1,a~x,b,c~           | op=SET key={id} value={n} comment=# null=M null=N zone=UTC
					application/x-ndjson      | {"n":"a","l":[{"id":"1"},{"id":"x","n":null}]}~ | op=SET key={id} value={n} rows=items:l
					application/json          | {"d":{"l":[{"id":"1","n":"a"},{"id":"x","n":null}]}} | op=SET key={id} value={n} rows=items:d.l
					text/plain                | SET 1 a~SET x b c~            |
					""")
	void aCorrectedRowOfAnyFormatRuns(String type, String body, String settings) {
		String[] words = (settings != null) ? settings.split(" (?=[a-z]+=)|(?<![{ ])=(?![}])", -1) : new String[0];
		String location = load(type, body.replace("~", "\n").replace("\\t", "\t"), words);
		assertThat(counts(location)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		String corrected = items(location).replaceFirst("b[,;]c|b c|b\\\\tc", "b")
			.replaceFirst("\\\\\"n\\\\\":null", "\\\\\"n\\\\\":\\\\\"b\\\\\"")
			.replaceFirst(":\\\\\"x\\\\\",\\\\\"value", ":\\\\\"x\\\\\",\\\\\"op\\\\\":\\\\\"SET\\\\\",\\\\\"value")
			.replaceFirst(",\\\\\"c\\\\\":1", "")
			.replaceFirst("\"x\\\\\":null", "\"x\\\\\":\\\\\"b\\\\\"");
		assertThat(post(corrected)).as(corrected).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.get("1")).isEqualTo("a");
		assertThat(this.redis.get("x")).isEqualTo("b");
	}

	@Test
	void allCommandsOfARowRunOnce() {
		String location = load(CSV, "id,n,g\n1,a,3\n2,b,\n", "command", "SET name:{id} {n}", "command",
				"INCRBY total {g}", "command", "[ SADD seen {g} ]");
		assertThat(counts(location)).isEqualTo(new Counts(5, 3, 0, 2, 0, 0));
		assertThat(items(location).lines()).hasSize(1);
		assertThat(post(items(location).replace("2,b,", "2,b,4"))).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		assertThat(this.redis.get("total")).isEqualTo("7");
		assertThat(this.redis.smembers("seen")).containsExactlyInAnyOrder("3", "4");
	}

	@Test
	void anItemThatFailsAgainIsListedAgain() {
		String location = load(CSV, "id,n\n1,a\n2\n3\n", "op", "SET", "key", "k:{id}", "value", "{n}", "ttl", "1h");
		String first = items(location);
		String again = load(Service.NDJSON, "[\"SET\",\"other\",\"1\"]\n" + first.replace("\"2\"", "\"2,b\""));
		assertThat(counts(again)).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		JsonNode failed = this.service.get(again).json().at("/items/0");
		assertThat(failed.at("/index").asInt()).isEqualTo(2);
		assertThat(failed.at("/line").asInt()).isEqualTo(3);
		assertThat(this.redis.ttl("other")).isEqualTo(-1);
		assertThat(this.redis.ttl("k:2")).isBetween(1L, 3600L);
		assertThat(items(again).lines()).singleElement().asString().startsWith("{\"raw\":\"3\",\"settings\":{");
		assertThat(post(items(again).replace("\"3\"", "\"3,c\""))).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.mget("k:1", "k:2", "k:3")).extracting((value) -> value.getValue())
			.containsExactly("a", "b", "c");
	}

	@Test
	void theIndexOfARowIsThatOfItsBody() {
		String location = load(CSV, "id,name\n1,a\n2\n3,c\n4\n", "op", "SET", "key", "user:{@index}", "value",
				"{name}");
		post(items(location).replace("\"2\"", "\"2,b\"").replace("\"4\"", "\"4,d\""));
		assertThat(this.redis.mget("user:0", "user:1", "user:2", "user:3")).extracting((value) -> value.getValue())
			.containsExactly("a", "b", "c", "d");
	}

	@Test
	void theFirstLineDecidesTheDelimiterOfARow() {
		String location = load(CSV, "sep=,\nid,name\n1,a;x\n2\n", "op", "SET", "key", "user:{id}", "value", "{name}",
				"delimiter", ";");
		post(items(location).replace("\"2\"", "\"2,b;y\""));
		assertThat(this.redis.get("user:2")).isEqualTo("b;y");
	}

	@Test
	void aRowIsNoBeginningOfABody() {
		String location = load(CSV, "id\n1\nsep=;,\n\ufeff2,\n", "op", "LPUSH", "key", "q", "args", "{id}");
		assertThat(counts(location).rejected()).isEqualTo(2);
		assertThat(post(items(location).replace("sep=;,", "sep=;").replace("\ufeff2,", "\ufeff2")))
			.isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(this.redis.lrange("q", 0, -1)).containsExactly("\ufeff2", "sep=;", "1");
	}

	@Test
	void anItemOfSeveralRowsIsListedByTheRowsThatFail() {
		String location = load(CSV, "id,n\n1,\"a\n2,b\n3\n4\n", "op", "LPUSH", "key", "q", "args", "{id}{n}");
		String again = load(Service.NDJSON, items(location).replace("\\\"a\\n", "a\\n"));
		assertThat(counts(again)).isEqualTo(new Counts(4, 2, 0, 2, 0, 0));
		assertThat(items(again).lines()).hasSize(2);
		assertThat(post(items(again).replace("\"3\"", "\"3,c\"").replace("\"4\"", "\"4,d\"")))
			.isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(this.redis.lrange("q", 0, -1)).containsExactly("4d", "3c", "2b", "1a");
	}

	@Test
	void aBrokenLineOfAnotherDatabaseHasNoSettings() {
		String location = load("text/plain", "SELECT 1\nSET a 1\nSET \"b\"x\nSELECT 0\nSET \"c\"x\n");
		assertThat(items(location).lines()).hasSize(3)
			.filteredOn((line) -> line.contains("\"settings\""))
			.singleElement()
			.asString()
			.contains("SET \\\"c");
	}

	@Test
	void aRowIsInTheListOfItsFirstRecord() {
		String location = load(CSV, "id,k\n1,a\n2\n", "command", "LPUSH log {id}", "command", "SET {k} {id}",
				"maxErrors", "0");
		String rejected = this.service.get(location + "/items?status=rejected").text();
		String unprocessed = this.service.get(location + "/items?status=unprocessed").text();
		assertThat(rejected + unprocessed).containsOnlyOnce("\"raw\":\"2\"");
	}

	@Test
	void wrongSettingsRejectTheirRecordOnly() {
		String settings = "{\"raw\":\"a,b\",\"settings\":{\"type\":\"text/csv\",\"op\":\"SET\",%s}}";
		for (String member : List.of("\"ttl\":1." + "1".repeat(2000), "\"" + "x".repeat(60_000) + "\":1",
				"\"null\":\"" + "n".repeat(70_000) + "\"")) {
			JsonNode report = this.service
				.post("/v1/jobs", Service.NDJSON, settings.formatted(member) + "\n[\"SET\",\"after\",\"1\"]\n")
				.report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
			assertThat(report.at("/items/0/error/message").asString()).contains("'settings'").hasSizeLessThan(1000);
		}
	}

	@Test
	void aLongRowIsWhole() {
		String name = "é".repeat(5_000);
		String location = load(CSV, "id,n,m\n1," + name + "\n", "op", "HSET", "key", "k:{id}");
		assertThat(this.service.get(location).json().at("/items/0/raw").asString()).hasSizeLessThan(1024);
		assertThat(post(items(location).replace("é\"", "é,m\""))).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.hget("k:1", "n")).isEqualTo(name);
	}

	@Test
	void otherCharsetsAreUtf8InItems() {
		String location = location("text/csv; charset=windows-1252",
				"id,n\n1,Zürich,x\n".getBytes(Charset.forName("windows-1252")), "op", "SET", "key", "{id}", "value",
				"{n}");
		assertThat(post(items(location).replace(",x", ""))).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.get("1")).isEqualTo("Zürich");
	}

	@Test
	void aRowOfAnotherDatabaseOrThatIsTooLargeHasNoSettings() {
		String location = load("text/plain", "SELECT 1\nSET a 1\n");
		assertThat(items(location)).contains("WRONG_DATABASE").doesNotContain("\"settings\"");
		assertThat(post(items(location))).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		assertThat(this.redis.exists("a")).isZero();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			{"raw":"1,a"}                                          | this is the item of a row
			{"raw":"1,a","settings":{"op":"SET"}}                  | 'type' takes the media type of the row
			{"raw":"1,a","settings":{"type":"text/csv","batchSize":"1"}} | 'batchSize' is not known
			{"raw":"1,a","settings":{"type":"text/csv","op":"SET","key":"{id}","value":"{n}","header":"id"}} \
			| in the item's 'raw', the header has no column 'n'
			{"raw":"1,a","settings":{"type":"text/csv","op":"SET","key":"{id","value":"{n}"}} | 'key' must be a template
			{"raw":{"base64":"AA=="},"settings":{"type":"text/csv"}} | this is the item of a row
			{"raw":"1","settings":"x"}                             | record member 'settings' takes an object
			{"raw":"1","settings":{},"key":"a"}                    | no 'op'
			""")
	void whatIsWrongWithAnItemIsNamed(String item, String message) {
		JsonNode report = this.service.post("/v1/jobs", Service.NDJSON, item + "\n[\"SET\",\"a\",\"1\"]\n").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(report.at("/items/0/error/message").asString()).contains(message);
		assertThat(report.at("/items/0/index").asInt()).isZero();
	}

	private String load(String type, String body, String... settings) {
		return location(type, body.getBytes(StandardCharsets.UTF_8), settings);
	}

	private String location(String type, byte[] body, String... settings) {
		String query = IntStream.range(0, settings.length / 2)
			.mapToObj((i) -> settings[2 * i] + "=" + URLEncoder.encode(settings[2 * i + 1], StandardCharsets.UTF_8))
			.collect(Collectors.joining("&", "/v1/jobs?", ""));
		Answer answer = this.service.send(this.service.request(query)
			.header("Prefer", "respond-async")
			.header("Content-Type", type)
			.POST(BodyPublishers.ofByteArray(body)));
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		String location = answer.header("Location");
		await().until(() -> List.of("completed", "failed", "stopped")
			.contains(this.service.get(location).json().at("/state").asString()));
		return location;
	}

	private Counts counts(String location) {
		return Answer.counts(this.service.get(location).json());
	}

	private String items(String location) {
		return this.service.get(location + "/items").text();
	}

	private Counts post(String items) {
		return Answer.counts(this.service.post("/v1/jobs", Service.NDJSON, items).report());
	}

}
