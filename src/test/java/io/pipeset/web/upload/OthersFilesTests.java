package io.pipeset.web.upload;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.Range;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** Files of the shapes that exporters, feeds and databases write. */
@ServiceTest
class OthersFilesTests {

	private static final String CSV = "text/csv";

	private static final String TSV = "text/tab-separated-values";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	OthersFilesTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	private JsonNode load(String type, String body, String... parameters) {
		return this.service.post(query(parameters), type, body).report();
	}

	private String refused(String type, String body, String... parameters) {
		return this.service.post(query(parameters), type, body).refusal(400, "invalid-setting");
	}

	/** Encodes names and values, as curl's --url-query does. */
	private static String query(String... parameters) {
		return IntStream.range(0, parameters.length / 2)
			.mapToObj((i) -> parameters[2 * i] + "=" + URLEncoder.encode(parameters[2 * i + 1], StandardCharsets.UTF_8))
			.collect(Collectors.joining("&", "/v1/jobs?", ""));
	}

	private static String message(JsonNode report, int item) {
		return report.at("/items/" + item + "/error/message").asString();
	}

	private static Counts counts(int received, int applied, int rejected) {
		return new Counts(received, applied, 0, rejected, 0, 0);
	}

	@Nested
	class Spreads {

		@Test
		void eachElementOfAnArrayIsAnArgument() {
			JsonNode report = load(Service.NDJSON, """
					{"sku":"a","tags":["x","y z",7,{"n":null}]}
					{"sku":"b","tags":[]}
					{"sku":"c","tags":"single"}
					{"sku":"d","tags":["x",null]}
					{"sku":"e","tags":{"x":1}}
					{"sku":"f"}
					""", "op", "SADD", "key", "t:{sku}", "args", "{tags...}");
			assertThat(Answer.counts(report)).isEqualTo(counts(6, 2, 4));
			assertThat(redis.smembers("t:a")).containsExactlyInAnyOrder("x", "y z", "7", "{\"n\":null}");
			assertThat(redis.smembers("t:c")).containsExactly("single");
			assertThat(message(report, 0)).contains("'tags' has no elements").contains("in a group it is left out");
			assertThat(message(report, 1)).contains("'tags' has a null among its elements");
			assertThat(message(report, 2)).contains("'tags' is an object").contains("HSET, MSET and XADD");
			assertThat(message(report, 3)).contains("'tags' is missing");
		}

		@Test
		void membersOfAnObjectAreNamesAndValuesInTurn() {
			load(Service.NDJSON, """
					{"id":1,"attrs":{"color":"red","\\u0041":[1,2]}}
					""", "op", "HSET", "key", "h:{id}", "fields", "{attrs...},id");
			assertThat(redis.hgetall("h:1")).isEqualTo(Map.of("color", "red", "A", "[1,2]", "id", "1"));
			load(Service.NDJSON, """
					{"id":2,"attrs":{"color":"blue"}}
					""", "op", "HSET", "key", "h:{id}", "args", "{attrs...}");
			assertThat(redis.hgetall("h:2")).isEqualTo(Map.of("color", "blue"));
		}

		@Test
		void aValueCanBeSpreadAndAnArgumentAsWell() {
			load(Service.NDJSON, """
					{"id":1,"tags":["a\\"b","c"]}
					""", "op", "RPUSH", "key", "l:{id}", "args", "{tags...}", "args", "{tags}", "args", "{*}");
			assertThat(redis.lrange("l:1", 0, -1)).containsExactly("a\"b", "c", "[\"a\\\"b\",\"c\"]",
					"{\"id\":1,\"tags\":[\"a\\\"b\",\"c\"]}");
		}

		@Test
		void aCellThatIsAnArrayHasElements() {
			JsonNode report = load(CSV, "id,tags\n1,\"[\"\"a\"\", \"\"b\"\"]\"\n2,[draft]\n3,plain\n", "op", "SADD",
					"key", "c:{id}", "args", "{tags...}");
			assertThat(redis.smembers("c:1")).containsExactlyInAnyOrder("a", "b");
			assertThat(message(report, 0)).contains("[draft]").contains("an array of JSON, or a text with a separator");
			assertThat(message(report, 1)).contains("'tags' is the text 'plain'").contains("{tags...(,)}");
		}

		@Test
		void anElementThatIsNotBase64IsNamed() {
			JsonNode report = load(Service.NDJSON, "{\"id\":\"\",\"tags\":\"no base64!\"}", "op", "SADD", "key", "s",
					"args", "{tags...}", "encoding", "base64");
			assertThat(message(report, 0)).contains("base64").doesNotContain("no elements");
		}

		@Test
		void oneValueIsNoPlaceForThem() {
			assertThat(refused(Service.NDJSON, "{}", "op", "SET", "key", "{id}", "value", "{tags...}"))
				.contains("'value' is one value");
			assertThat(refused(Service.NDJSON, "{}", "op", "SADD", "key", "{id}", "args", "x{tags...}"))
				.contains("has the spread '{tags...}' in a text")
				.contains("{tags:join(,)}");
		}

	}

	@Nested
	class Fields {

		@Test
		void aFieldMayHaveAnotherNameAndAMadeValue() {
			load(Service.NDJSON, """
					{"id":1,"title":"Lamp","address":{"city":"Turin","zip":"10121"}}
					""", "op", "HSET", "key", "p:{id}", "fields",
					"title,city={address.city},\"a=b\"=\"{address.zip}, {address.city}\"");
			assertThat(redis.hgetall("p:1")).isEqualTo(Map.of("title", "Lamp", "city", "Turin", "a=b", "10121, Turin"));
		}

		@Test
		void aFieldNamedByAColumn() {
			load(CSV, "group,name,setting\n123,Tom,Hank\n123,Ann,Lee\n", "op", "HSET", "key", "s:{group}", "args",
					"{name}", "args", "{setting}");
			assertThat(redis.hgetall("s:123")).isEqualTo(Map.of("Tom", "Hank", "Ann", "Lee"));
		}

		@Test
		void anEntryOfAStreamHasAllOfThem() {
			JsonNode report = load(Service.NDJSON, """
					{"ts":1,"side":"buy","price":null}
					{"ts":2,"side":"sell","price":3}
					""", "op", "XADD", "key", "st", "args", "MAXLEN", "args", "100", "args", "{ts}-*", "nulls", "skip");
			assertThat(Answer.counts(report)).isEqualTo(counts(2, 2, 0));
			assertThat(redis.xrange("st", Range.unbounded())).extracting((entry) -> entry.getBody())
				.containsExactly(Map.of("ts", "1", "side", "buy"), Map.of("ts", "2", "side", "sell", "price", "3"));
			load(Service.NDJSON, "{\"a\":1}", "op", "XADD", "key", "st{a}");
			assertThat(redis.xlen("st1")).isOne();
			load(Service.NDJSON, "{\"a\":1,\"b\":2}", "op", "XADD", "key", "st2:{a}", "fields", "b");
			assertThat(redis.xrange("st2:1", Range.unbounded()).get(0).getBody()).isEqualTo(Map.of("b", "2"));
		}

	}

	@Nested
	class Groups {

		@Test
		void aGroupIsLeftOutWithANullInIt() {
			JsonNode report = load(Service.NDJSON, """
					{"id":1,"name":"a","secs":60}
					{"id":2,"name":"b","secs":null}
					{"id":3,"name":"c"}
					{"id":4,"name":null}
					""", "op", "SET", "key", "g:{id}", "value", "{name}", "args", "[", "args", "EX", "args", "{secs}",
					"args", "]");
			assertThat(Answer.counts(report)).isEqualTo(counts(4, 3, 1));
			assertThat(redis.ttl("g:1")).isPositive();
			assertThat(redis.ttl("g:2")).isEqualTo(-1);
			assertThat(redis.ttl("g:3")).isEqualTo(-1);
		}

		@Test
		void aNullOutsideOfOneIsRefusedAndNamesThem() {
			JsonNode report = load(Service.NDJSON, "{\"id\":1,\"side\":null}", "op", "XADD", "key", "s:{id}", "args",
					"*", "args", "side", "args", "{side}", "nulls", "skip");
			assertThat(message(report, 0)).contains("'side' is null").contains("group");
		}

		@ParameterizedTest
		@CsvSource(delimiter = '|', textBlock = """
				[,{a}       | opens a group with '['
				{a},]       | closes a group with ']'
				[,[,{a},],] | has a group without a column or member of its own
				[,x,],{a}   | has a group without a column or member of its own
				""")
		void bracketsHaveToMatch(String args, String problem) {
			String[] words = args.split(",", -1);
			String[] parameters = new String[4 + 2 * words.length];
			System.arraycopy(new String[] { "op", "SADD", "key", "{id}" }, 0, parameters, 0, 4);
			for (int i = 0; i < words.length; i++) {
				parameters[4 + 2 * i] = "args";
				parameters[5 + 2 * i] = words[i];
			}
			assertThat(refused(Service.NDJSON, "{}", parameters)).startsWith("'args' " + problem);
		}

		@Test
		void aBracketThatIsMeantIsWrittenTwice() {
			load(Service.NDJSON, "{\"id\":1,\"lat\":2,\"lon\":3}", "op", "RPUSH", "key", "b:{id}", "args", "[[", "args",
					"[{lat},{lon}]", "args", "]]");
			assertThat(redis.lrange("b:1", 0, -1)).containsExactly("[", "[2,3]", "]");
		}

	}

	@Nested
	class Commands {

		@Test
		void aRowMakesARecordOfEach() {
			JsonNode report = load(CSV, "sku,name,category\nA-1,\"Lamp, red\",light\nA-2,,light\n", "command",
					"HSET product:{sku} name {name}", "command", "SADD category:{category} {sku}", "command",
					"expire product:{sku} 3600", "results", "all");
			assertThat(Answer.counts(report)).isEqualTo(counts(6, 3, 3));
			assertThat(redis.hgetall("product:A-1")).isEqualTo(Map.of("name", "Lamp, red"));
			assertThat(redis.ttl("product:A-1")).isPositive();
			assertThat(redis.smembers("category:light")).containsExactly("A-1");
			assertThat(report.get("items").valueStream().map((item) -> item.get("line").asInt())).containsExactly(2, 2,
					2, 3, 3, 3);
			for (int item = 3; item < 6; item++) {
				assertThat(message(report, item)).contains("column 'name' is empty").contains("command 1 of the row");
			}
		}

		@Test
		void wordsAreThoseOfRedisCli() {
			load(Service.NDJSON, "{\"k\":\"a b\",\"v\":\"x y\",\"tags\":[\"p q\",\"r\"],\"secs\":null}", "command",
					"RPUSH 'l:{k}' \"{v}!\" {tags...} \"[\" {*} [ EX {secs} ]");
			assertThat(redis.lrange("l:a b", 0, -1)).containsExactly("x y!", "p q", "r", "[",
					"{\"k\":\"a b\",\"v\":\"x y\",\"tags\":[\"p q\",\"r\"],\"secs\":null}");
		}

		@Test
		void aTextThatIsAnEmptyArrayHasNoElements() {
			load(Service.NDJSON, "{\"id\":1,\"tags\":\"[]\"}", "command", "[ SADD t:{id} {tags...} ]");
			assertThat(redis.keys("*")).isEmpty();
			JsonNode report = load(CSV, "id,tags\n2,[ ]\n", "command", "SET k:{id} v", "command",
					"[ SADD t:{id} {tags...} ]");
			assertThat(Answer.counts(report)).isEqualTo(counts(1, 1, 0));
		}

		@Test
		void aCommandThatIsAGroupIsLeftOut() {
			for (String type : new String[] { Service.NDJSON, Service.JSON }) {
				redis.flushall();
				JsonNode report = load(type, """
						{"id":1,"name":"a","tags":["x"],"ttl":60}
						{"id":2,"name":"b","tags":[]}
						{"id":3}
						""", "command", "[ HSET u:{id} name {name} ]", "command", "[ SADD t:{id} {tags...} ]",
						"command", "[ EXPIRE u:{id} {ttl} ]");
				assertThat(Answer.counts(report)).isEqualTo(counts(4, 4, 0));
				assertThat(redis.keys("*")).containsExactlyInAnyOrder("u:1", "u:2", "t:1");
				assertThat(redis.ttl("u:1")).isPositive();
			}
			JsonNode rows = load(CSV, "id,v\n1,\n2,x\n3,\n", "command", "[ SET c:{id} {v} ]");
			assertThat(Answer.counts(rows)).isEqualTo(counts(1, 1, 0));
		}

		@ParameterizedTest
		@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
				[ SET {a} {b} ] NX    | 'command' begins with a group
				GETX {a} {b}          | 'command' begins with the operation's name: operation 'GETX'
				SET {a}               | 'command' makes a record that is refused: SET takes 2 arguments or more, not 1
				SET a b               | 'command' names no column or member
				SET "{a} b            | 'command' must be a command
				SET {a b              | 'command' must be a command
				SET {a} {b} [ EX {s}  | 'command' opens a group
				""")
		void aCommandThatCannotBeOneIsRefused(String command, String problem) {
			assertThat(refused(Service.NDJSON, "{}", "command", command)).startsWith(problem);
		}

		@ParameterizedTest
		@ValueSource(strings = { "op=SET", "key={a}", "value={a}", "fields=a", "args={a}", "ttl={a}", "nulls=skip" })
		void itStandsInsteadOfTheOthers(String other) {
			String[] parts = other.split("=", 2);
			String problem = refused(Service.NDJSON, "{}", "command", "SET {a} {b}", parts[0], parts[1]);
			assertThat(problem).contains("command");
		}

	}

	@Nested
	class Deletions {

		private static final String FEED = """
				{"key":"a","value":{"n":1}}
				{"key":"b","value":2}
				{"key":"b","value":null}
				{"key":"a","value":null}
				{"key":"a","value":3}
				{"key":"c","value":null}
				""";

		@ParameterizedTest
		@ValueSource(strings = { "1", "4" })
		void aNullIsADelInItsPlace(String concurrency) {
			JsonNode report = load(Service.NDJSON, FEED, "op", "SET", "key", "{key}", "value", "{value}", "nulls",
					"delete", "results", "all", "concurrency", concurrency);
			assertThat(Answer.counts(report)).isEqualTo(counts(6, 6, 0));
			assertThat(report.get("items").valueStream().map((item) -> item.get("op").asString()).toList())
				.containsExactlyInAnyOrder("SET", "SET", "DEL", "DEL", "SET", "DEL");
			assertThat(redis.keys("*")).containsExactly("a");
			assertThat(redis.get("a")).isEqualTo("3");
		}

		@Test
		void soItIsWithoutTemplates() {
			loadWithoutTemplates(Service.NDJSON, FEED);
			loadWithoutTemplates(CSV, "key,value\na,1\nb,\nb,2\na,\n");
			assertThat(redis.keys("*")).containsExactly("b");
		}

		private void loadWithoutTemplates(String type, String body) {
			redis.flushall();
			JsonNode report = load(type, body, "op", "SET", "nulls", "delete");
			assertThat(report.get("errors").asBoolean()).isFalse();
		}

		@Test
		void itIsForSetAlone() {
			assertThat(
					refused(Service.NDJSON, FEED, "op", "SADD", "key", "{key}", "args", "{value}", "nulls", "delete"))
				.contains("'nulls' 'delete' is for SET alone");
		}

	}

	@Nested
	class Entries {

		private static final String MAP = """
				{"a":"1", "b" : {"name":"Grace","tags":["x"]}, "c\\u0021":[1, 2], "d":null}
				""";

		@Test
		void eachMemberIsARow() {
			JsonNode report = load(Service.JSON, MAP, "op", "SET", "key", "{@key}", "value", "{@value}", "rows",
					"entries");
			assertThat(Answer.counts(report)).isEqualTo(counts(4, 3, 1));
			assertThat(redis.mget("a", "b", "c!")).extracting((value) -> value.getValueOrElse(null))
				.containsExactly("1", "{\"name\":\"Grace\",\"tags\":[\"x\"]}", "[1,2]");
		}

		@Test
		void namesAreMembersOfTheValue() {
			load(Service.JSON, "{\"b\":{\"name\":\"Grace\",\"@key\":\"own\"}}", "op", "HSET", "key", "u:{name}",
					"fields", "name,number={@index},key={@key}", "rows", "entries");
			assertThat(redis.hgetall("u:Grace")).isEqualTo(Map.of("name", "Grace", "number", "0", "key", "own"));
		}

		@Test
		void aBodyThatIsNoObjectEndsTheJob() {
			String[] query = { "op", "SET", "key", "{@key}", "value", "{@value}", "rows", "entries" };
			for (String body : List.of("[1]", "{\"a\" 1}", "{\"a\":1", "{a:1}", "{\"a\":1}x", "{\"a\":1,}")) {
				this.expectMalformed(body, query);
			}
		}

		private void expectMalformed(String body, String... query) {
			assertThat(service.post(query(query), Service.JSON, body).problem(400, "malformed-body")).as(body)
				.isNotNull();
		}

		@Test
		void aMapWithoutTheSettingIsToldOfIt() {
			assertThat(message(load(Service.JSON, "{\"r20:a\":\"1\"}"), 0)).contains("rows=entries")
				.contains("key={@key}");
		}

	}

	@Nested
	class Forms {

		@Test
		void aTextStandsForBytes() {
			JsonNode report = load(Service.NDJSON, """
					{"id":1,"p":"aGk=","x":"4f6B"}
					{"id":2,"p":"?","x":"4f"}
					{"id":3,"p":"","x":"4"}
					{"id":4,"p:base64":"own","x":""}
					""", "op", "HSET", "key", "f:{id}", "fields", "p={p:base64},x=<{x:hex}>");
			assertThat(Answer.counts(report)).isEqualTo(counts(4, 2, 2));
			assertThat(redis.hgetall("f:1")).isEqualTo(Map.of("p", "hi", "x", "<Ok>"));
			assertThat(redis.hgetall("f:4")).isEqualTo(Map.of("p", "own", "x", "<>"));
			assertThat(message(report, 0)).contains("'p' is not of the form base64: '?'");
			assertThat(message(report, 1)).contains("'x' is not of the form hex: '4'");
		}

	}

	@Nested
	class Vectors {

		private final String documents = """
				{"id": 1, "title": "Night trains", "embedding": [0.1, -0.25, 0.5, 1.0, -1.0, 3.1415927, 1e-07, 0.0]}
				{"id": 2, "title": "Züge bei Nacht", "embedding": "[0, 0, 0, 0, 0, 0, 0, 1]"}
				{"id": 3, "title": "seven numbers", "embedding": [0.1, -0.25, 0.5, 1.0, -1.0, 3.1415927, 1e-07]}
				{"id": 4, "title": "no vector", "embedding": null}
				{"id": 5, "title": "a word", "embedding": [0.1, "x", 0.5, 1, 2, 3, 4, 5]}
				""";

		private final String first = "cdcccc3d000080be0000003f0000803f000080bfdb0f494095bfd63300000000";

		private String hex(String key) {
			return redis.eval("return (redis.call('HGET', KEYS[1], 'embedding'):gsub('.', function(c)"
					+ " return string.format('%02x', c:byte()) end))", ScriptOutputType.VALUE, key);
		}

		@Test
		void numbersBecomeTheBytesThatASearchReads() {
			JsonNode report = load(Service.NDJSON, this.documents, "op", "HSET", "key", "v:{id}", "fields",
					"title,embedding={embedding:f32[8]}");
			assertThat(Answer.counts(report)).isEqualTo(counts(5, 2, 3));
			assertThat(hex("v:1")).isEqualTo(this.first);
			assertThat(hex("v:2")).isEqualTo("00".repeat(28) + "0000803f");
			assertThat(message(report, 0)).isEqualTo("member 'embedding' is not of the form f32[8]: it has 7 numbers");
			assertThat(message(report, 1)).contains("'embedding' is null");
			assertThat(message(report, 2))
				.isEqualTo("member 'embedding' is not of the form f32[8]: its value 2 is '\"x\"'");
			assertThat(redis.exists("v:3", "v:4", "v:5")).isZero();
		}

		@Test
		void aCellIsTakenAlike() {
			load(CSV, """
					id,title,embedding
					1,Night trains,"[0.1, -0.25, 0.5, 1.0, -1.0, 3.1415927, 1e-07, 0.0]"
					2,Züge,"0.0 0.0 1.0"
					3,empty,""
					""", "command", "HSET v:{id} title {title} embedding {embedding:f32}");
			assertThat(hex("v:1")).isEqualTo(this.first);
			assertThat(hex("v:2")).isEqualTo("00".repeat(8) + "0000803f");
			assertThat(redis.exists("v:3")).isZero();
		}

		@Test
		void aVectorSetTakesThem() {
			TestRedis.shared().assumeKnown("VADD");
			JsonNode report = load(Service.NDJSON, this.documents, "command",
					"VADD vectors FP32 {embedding:f32[8]} {id} SETATTR {*}");
			assertThat(Answer.counts(report)).isEqualTo(counts(5, 2, 3));
			report = load(Service.NDJSON, this.documents, "op", "VADD", "key", "vectors:2", "args", "VALUES", "args",
					"8", "args", "{embedding...}", "args", "{id}");
			assertThat(Answer.counts(report).rejected()).isEqualTo(4);
		}

		@Test
		void aFormThatThereIsNotIsRefusedByName() {
			assertThat(refused(Service.NDJSON, this.documents, "op", "HSET", "key", "v:{id}", "fields",
					"title,embedding={embedding:f31}"))
				.isEqualTo("'fields' has the name 'embedding:f31', and 'f31' is not a form: allowed are json, number,"
						+ " unix, unixms, base64, hex, f16, f32, f64, join, a count of numbers from 1 to 1000000 as in"
						+ " f32[1536], and the separator of join, as in join(,)");
			assertThat(refused(Service.NDJSON, this.documents, "command", "HSET v:{id} v {embedding:fp32}"))
				.startsWith("'command' has the name 'embedding:fp32'");
		}

	}

	@Nested
	class Databases {

		@Test
		void mariadbBatch() {
			JsonNode report = load(TSV, """
					sku\tdoc\tmotto
					17\t{"name": "6\\\\" nail"}\ta\\tb
					18\t\\\\\tsay "hi"
					19\tNULL\tNULL
					""", "op", "HSET", "key", "m:{sku}", "fields", "doc,motto", "escape", "backslash", "null", "NULL",
					"nulls", "skip");
			assertThat(Answer.counts(report)).isEqualTo(counts(3, 2, 1));
			assertThat(redis.hgetall("m:17")).isEqualTo(Map.of("doc", "{\"name\": \"6\\\" nail\"}", "motto", "a\tb"));
			assertThat(redis.hgetall("m:18")).isEqualTo(Map.of("doc", "\\", "motto", "say \"hi\""));
			assertThat(redis.exists("m:19")).isZero();
		}

		@Test
		void intoOutfile() {
			load(CSV, """
					"17","{\\"name\\": \\"6\\\\\\" nail\\"}","a\tb\\
					c"
					"20",\\N,"NULL"
					""", "op", "HSET", "key", "o:{sku}", "fields", "doc,motto", "header", "sku,doc,motto", "escape",
					"backslash", "null", "\\N", "nulls", "skip");
			assertThat(redis.hgetall("o:17"))
				.isEqualTo(Map.of("doc", "{\"name\": \"6\\\" nail\"}", "motto", "a\tb\nc"));
			assertThat(redis.hgetall("o:20")).isEqualTo(Map.of("motto", "NULL"));
		}

		@ParameterizedTest
		@ValueSource(strings = { "1,a\\,\"b", "1,\"a\"\\\"", "1,a\"b" })
		void aBadRowWithEscapesHidesNoOther(String bad) {
			JsonNode report = load(CSV, "id,v\n" + bad + "\n2,c\n3,\"d\"\n4,e\n", "op", "SET", "key", "b:{id}", "value",
					"{v}", "escape", "backslash");
			assertThat(Answer.counts(report)).isEqualTo(counts(4, 3, 1));
		}

		@Test
		void aBackslashAtTheEndOfARowIsMalformed() {
			for (String body : List.of("id,v\n3,e\\", "id,v\r\n3,e\\\r\n")) {
				JsonNode report = load(CSV, body, "op", "SET", "key", "l:{id}", "value", "{v}", "escape", "backslash");
				assertThat(Answer.counts(report)).isEqualTo(counts(1, 0, 1));
			}
		}

		@Test
		void anUnknownEscapeIsNotGuessed() {
			JsonNode report = load(TSV, "id\tv\n1\t\\N\n2\tC:\\q\n", "op", "SET", "key", "e:{id}", "value", "{v}",
					"escape", "backslash");
			assertThat(message(report, 0)).contains("null=%5CN");
			assertThat(message(report, 1)).contains("not 'q'");
		}

		@Test
		void blanksAreTrimmedOutsideOfQuotes() {
			load(CSV, "id, v\n1,  a b \n2,\" c \"\n3,   \n", "op", "SET", "key", "t:{id}", "value", "{v}", "trim",
					"true", "nulls", "empty");
			assertThat(redis.mget("t:1", "t:2", "t:3")).extracting((value) -> value.getValueOrElse(null))
				.containsExactly("a b", " c ", "");
		}

	}

}
