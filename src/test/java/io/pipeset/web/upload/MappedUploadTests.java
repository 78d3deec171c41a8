package io.pipeset.web.upload;

import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A file is loaded as it is, by templates in the query string. */
@ServiceTest
@Timeout(300)
class MappedUploadTests {

	private static final String CSV = "text/csv";

	private static final String TSV = "text/tab-separated-values";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	MappedUploadTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	/** Encodes names and values, as curl's --url-query does. */
	private static String query(String... parameters) {
		return IntStream.range(0, parameters.length / 2)
			.mapToObj((i) -> parameters[2 * i] + "=" + URLEncoder.encode(parameters[2 * i + 1], StandardCharsets.UTF_8))
			.collect(Collectors.joining("&", "/v1/jobs?", ""));
	}

	private static JsonNode firstError(JsonNode report) {
		return report.at("/items/0/error");
	}

	@ParameterizedTest
	@EnumSource
	void anyFileIsLoadedByOneCall(RealFile file) {
		JsonNode report = this.service.post(query(file.parameters), file.type, file.body).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(this.redis.keys("*")).containsExactly(file.key);
		assertThat((this.redis.type(file.key).equals("hash")) ? this.redis.hgetall(file.key)
				: Map.of("value", this.redis.get(file.key)))
			.hasToString(file.hash);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v1/jobs?op=SET&key=session:{sid}&value={price}",
			"/pipeset/2?key=session:{sid}&value={price}" })
	void bracesMayStandInTheUrlAsTheyAre(String path) throws IOException {
		String body = "sid,price\na,1\nb,2\n";
		try (Wire wire = Wire.post(this.service, path, "Content-Type: text/csv", "Content-Length: " + body.length())) {
			wire.send(body);
			JsonNode settings = wire.answer().report().get("settings");
			assertThat(settings.get("key").asString()).isEqualTo("session:{sid}");
			assertThat(settings.get("value").asString()).isEqualTo("{price}");
		}
		assertThat(this.redis.mget("session:a", "session:b")).extracting((value) -> value.getValue())
			.containsExactly("1", "2");
	}

	@Test
	void argumentsAreTemplatesInTheirOrder() {
		String path = query("op", "ZADD", "key", "board:{game}", "args", "{points}", "args", "{player.name}", "id",
				"{game}/{player.id}");
		JsonNode report = this.service
			.ndjson(path, "{\"player\":{\"name\":\"Ada\",\"id\":7},\"points\":12.5,\"game\":\"go\"}",
					"{\"game\":\"go\",\"points\":\"many\",\"player\":{\"id\":8,\"name\":\"Bob\"}}")
			.report();
		assertThat(report.at("/settings/args").toString()).isEqualTo("[\"{points}\",\"{player.name}\"]");
		assertThat(this.redis.zscore("board:go", "Ada")).isEqualTo(12.5);
		assertThat(report.at("/items/0/id").asString()).isEqualTo("go/8");
		assertThat(report.at("/items/0/key").asString()).isEqualTo("board:go");
	}

	@Test
	void membersOfObjectsHaveNoMeaningOfTheirOwn() {
		JsonNode report = this.service.post(query("op", "HSET", "key", "{id}"), Service.JSON, """
				[{"id": 1, "op": "DEL", "ttl": -5, "encoding": "x", "nested": {"a": [1, null]}, "id2": true}]""")
			.report();
		assertThat(Answer.counts(report).applied()).isOne();
		assertThat(this.redis.hgetall("1")).isEqualTo(Map.of("id", "1", "op", "DEL", "ttl", "-5", "encoding", "x",
				"nested", "{\"a\":[1,null]}", "id2", "true"));
		assertThat(this.redis.ttl("1")).isEqualTo(-1);
	}

	@Test
	void eachRowMayHaveItsOwnTimeToLive() {
		String path = query("op", "SET", "key", "{sid}", "value", "{*}", "ttl", "{expires}");
		JsonNode report = this.service.post(path, CSV, "sid,expires\na,1h\nb,500\nc,soon\nd,\n").report();
		assertThat(report.at("/settings/ttl").asString()).isEqualTo("{expires}");
		assertThat(Answer.counts(report)).isEqualTo(new Counts(4, 2, 0, 2, 0, 0));
		assertThat(this.redis.ttl("a")).isBetween(3540L, 3600L);
		assertThat(this.redis.ttl("b")).isBetween(440L, 500L);
		assertThat(this.redis.get("b")).isEqualTo("{\"sid\":\"b\",\"expires\":\"500\"}");
		assertThat(firstError(report).get("message").asString()).startsWith("'ttl' takes ").endsWith(", not 'soon'");
		assertThat(report.at("/items/1/error/message").asString())
			.isEqualTo("column 'expires' is empty, and 'ttl' names it; nulls=skip leaves it out");
		this.service.post(path + "&nulls=skip", CSV, "sid,expires\nd,\n").report();
		assertThat(this.redis.ttl("d")).isEqualTo(-1);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					refuse | op=SET&key={a}&value={b}         | {"a":1,"b":null}      | member 'b' is null, and 'value' names it; nulls=empty takes it for an empty string, nulls=delete deletes the key
					skip   | op=SET&key={a}&value={b}         | {"a":1,"b":null}      | member 'b' is null, and 'value' names it; nulls=empty takes it for an empty string, nulls=delete deletes the key
					refuse | op=SET&key={a}&value={b}         | {"a":1}               | ~member 'b' is missing, and 'value' names it; a default takes its place, as in {b|0}~
					empty  | op=SET&key={a}&value={b}         | {"a":1}               | ~member 'b' is missing, and 'value' names it; a default takes its place, as in {b|0}~
					empty  | op=SET&key={b.c}&value={a}       | {"a":1,"b":null}      | ~member 'b.c' is null, and 'key' names it; a default takes its place, as in {b.c|0}~
					refuse | op=HSET&key={a}                  | {"a":1,"b":null}      | member 'b' is null; nulls=skip leaves it out, nulls=empty takes it for an empty string
					refuse | op=HSET&key={a}&fields=b         | {"a":1,"b":null}      | member 'b' is null, and 'fields' names it; nulls=skip leaves it out, nulls=empty takes it for an empty string
					skip   | op=HSET&key={a}&fields=b         | {"a":1,"b":null}      | the row has no field: no member of it has a value
					refuse | op=SADD&key={a}&args={b.c}       | {"a":1,"b":null}      | member 'b.c' is null, and 'args' names it; 'nulls' is not for arguments, because those after a null would move: put them into a group, as in args=[&args=EX&args={secs}&args=]
					skip   | op=SADD&key={a}&args={b.c}       | {"a":1,"b":null}      | member 'b.c' is null, and 'args' names it; 'nulls' is not for arguments, because those after a null would move: put them into a group, as in args=[&args=EX&args={secs}&args=]
					empty  | op=SADD&key={a}&args={b.c}       | {"a":1,"b":null}      | member 'b.c' is null, and 'args' names it; 'nulls' is not for arguments, because those after a null would move: put them into a group, as in args=[&args=EX&args={secs}&args=]
					skip   | op=SADD&key={a}&args=x:{b.c}     | {"a":1,"b":null}      | member 'b.c' is null, and 'args' names it; 'nulls' is not for arguments, because those after a null would move: put them into a group, as in args=[&args=EX&args={secs}&args=]
					refuse | op=SET&key={a}&value=v&expireAt={b.c} | {"a":1,"b":null} | member 'b.c' is null, and 'expireAt' names it; nulls=skip leaves it out
					refuse | op=SADD&key={a}&args={b.c}       | {"a":1,"b":7}         | member 'b' is 7 and no object or array of JSON, and 'args' names 'b.c' in it
					refuse | op=SET&key={a}&value={b}         | [1]                   | ~member 'a' is missing, and 'key' names it; a default takes its place, as in {a|0}~
					refuse | op=SET&key={a}&value=v&id={b.c}  | {"a":1,"b":null}      | member 'b.c' is null, and 'id' names it; nulls=skip leaves it out
					""")
	void aRowThatLacksAValueIsOneRecordThatNamesIt(String nulls, String query, String line, String message) {
		String path = "/v1/jobs?nulls=" + nulls + "&" + query.replace("{", "%7B").replace("}", "%7D");
		JsonNode report = this.service.ndjson(path, line, "{\"a\":2,\"b\":{\"c\":3}}").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
		assertThat(firstError(report).get("code").asString()).isEqualTo("MALFORMED");
		assertThat(firstError(report).get("message").asString()).isEqualTo(message);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
			skip  | {"op":"HSET","key":"k","fields":{"a":null,"b":"x"}}  | {b=x}
			empty | {"op":"HSET","key":"k","fields":{"a":null,"b":"x"}}  | {a=, b=x}
			skip  | {"op":"HSET","key":"k","fields":{"a":{"x":null}}}    | {a={"x":null}}
			skip  | {"op":"HSET","key":"k","fields":{"b":1},"ttl":null}  | {b=1}
			empty | {"op":"HSET","key":"k","fields":{"b":1},"ttl":null}  | {b=1}
			skip  | {"op":"HSET","key":"k","fields":{"b":1},"expireAt":null} | {b=1}
			empty | {"op":"HSET","key":"k","fields":{"b":null},"expireAt":null,"id":null} | {b=}
			""")
	void nullsInRecordsMeanTheSame(String nulls, String line, String hash) {
		this.service.ndjson("/v1/jobs?nulls=" + nulls, line, line, line).report();
		assertThat(this.redis.hgetall("k")).hasToString(hash);
	}

	/** A null among arguments would give each one behind it the meaning of another. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					application/x-ndjson |                                              | {"op":"ZADD","key":"k","args":[null,"7","8",null]}
					application/x-ndjson |                                              | {"op":"ZADD","key":"k","args":["7",null]}
					application/x-ndjson |                                              | ["ZADD","k",null,"7","8",null]
					application/json     |                                              | [["HSET","k","a",null,"1","b"]]
					application/x-ndjson | op=XADD&key=k&args=*&args=price&args={price}&args=side&args={side} | {"price":null,"side":"buy"}
					text/csv             | op=XADD&key=k&args=*&args=price&args={price}&args=side&args={side} | price,side\\n,buy
					text/csv             | op=ZADD                                      | key,arg1,arg2,arg3\\nk,,7,8
					text/csv             |                                              | op,key,arg1,arg2,arg3\\nHSET,k,a,,1
					""")
	void aNullAmongArgumentsIsRefusedWhateverNullsMean(String type, String query, String body) {
		for (String nulls : List.of("refuse", "skip", "empty")) {
			if (nulls.equals("empty") && type.equals(CSV) && !body.startsWith("price")) {
				// The empty cell of such a column is then the empty string, in its place.
				continue;
			}
			String path = "/v1/jobs?nulls=" + nulls
					+ ((query != null) ? "&" + query.replace("{", "%7B").replace("}", "%7D") : "");
			JsonNode report = this.service.post(path, type, body.replace("\\n", "\n")).report();
			assertThat(Answer.counts(report)).as(nulls).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
			assertThat(firstError(report).get("code").asString()).isEqualTo("MALFORMED");
			assertThat(firstError(report).get("message").asString()).containsAnyOf("args", "argument", "arg")
				.containsAnyOf("null", "empty")
				.doesNotContain("nulls=skip");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					text/csv                  | op=SET&key={Sid}&value={price} | the header has no column 'Sid', which 'key' names; it has 'sid', 'price', 'a b'
					text/csv                  | op=HSET&key={sid}&fields=cost  | the header has no column 'cost', which 'fields' names; it has 'sid', 'price', 'a b'
					text/csv                  | op=SADD&key=x&args={cost}      | the header has no column 'cost', which 'args' names; it has 'sid', 'price', 'a b'
					text/csv                  | op=SET&key={sid}&value=v&ttl={x} | the header has no column 'x', which 'ttl' names; it has 'sid', 'price', 'a b'
					text/csv                  | op=SET&key={sid}&value=v&id={x} | the header has no column 'x', which 'id' names; it has 'sid', 'price', 'a b'
					text/csv                  | op=SET&key={sid}&value={*}&header=sid,sid | the header has two columns 'sid', and 'key' names one of them
					text/csv                  | op=HSET&key={sid}&header=sid,a,a | the header has two columns 'a', and without 'fields' each column is a field
					text/csv                  | op=HSET&key={sid}&header=sid,,b | column 2 of the header has no name: {@2} names it, and without 'fields' each column is a field
					text/csv                  | op=SET&key={sid}&value={*}&header=sid,a,a | the header has two columns 'a', and 'value' takes all columns
					text/tab-separated-values | op=SET&key={sid}&value=v       | the header has no column 'sid', which 'key' names; it has 'sid,price,a b'; columns are separated by tabs, not by commas
					text/csv                  | op=SET&key={sid}&value=v&delimiter=; | the header has no column 'sid', which 'key' names; it has 'sid,price,a b'; columns are separated by semicolons, not by commas, unless delimiter=, says so
					""")
	void aColumnThatIsNotThereEndsTheJobWithThoseThatAre(String type, String query, String detail) {
		String path = "/v1/jobs?" + query.replace("{", "%7B").replace("}", "%7D");
		Answer answer = this.service.post(path, type, "sid,price,a b\n1,2,3\n");
		assertThat(Answer.counts(answer.job(400, "malformed-body", "failed")).received()).isZero();
		assertThat(answer.json().at("/detail").asString()).contains(detail);
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					key={a}                               | 'key' needs the operation of all records: give 'op' too, as in op=HSET&key=user:{id}
					op=SET&key={a}                        | 'value' is missing: SET needs it in addition to 'key', as in value={price}, or value={*} for the whole row
					op=SET&value={a}                      | 'value' has a meaning only with 'key', the template of each record's key
					op=SET&ttl={a}                        | 'ttl' is a template, which has a meaning only with 'key', the template of each record's key
					op=HSET&key={a}&value={b}             | 'value' is for SET: HSET takes 'key', and 'fields' unless they are all
					op=SET&key={a}&value=v&fields=b       | 'fields' is for HSET and XADD: SET takes 'key' and 'value'
					op=SADD&key={a}&args={b}&ttl={c}      | 'ttl' is for SET and HSET, not for SADD: keys of other operations expire by records of EXPIRE
					op=SET&key={a}&value=v&ttl={b}&expireAt={c} | 'expireAt' and 'ttl' are two expiries: give one of them
					op=SET&expireAt={a}                   | 'expireAt' is a template, which has a meaning only with 'key', the template of each record's key
					op=SADD&key={a}                       | 'args' and 'key' make a record that is refused: SADD takes
					op=EVALSHA&key={a}&args={b}           | 'key' does not go with EVALSHA, whose keys stand among its 'args'
					op=SET&key={a&value=v                 | 'key' must be a template such as session:{sid}, with {{ and }} for braces, not '{a'
					op=SET&key={}&value=v                 | 'key' must be a template
					op=HSET&key={a}&fields=a,,b           | 'fields' must be fields with commas between them
					op=SET&key=sid&value={*}              | 'key' names no column or member in braces, so that all records would have the same key; curl takes braces out of a URL unless it is called with -g
					op=LPUSH&key=queue&args=price         | 'args' names no column or member in braces, so that all records would be the same; curl takes braces out of a URL unless it is called with -g
					op=SET&key={a}&value=v&nulls=none     | 'nulls' must be refuse, skip, empty or delete, not 'none'
					op=SET&key={a}&key={b}&value=v        | 'key' is given more than once
					op=SET&delimiter=ab                   | 'delimiter' must be a character of ASCII that is no quote, or tab, not 'ab'
					op=SET&delimiter="                    | 'delimiter' must be a character of ASCII that is no quote, or tab
					op=SET&delimiter=é                    | 'delimiter' must be a character of ASCII that is no quote, or tab
					op=SET&header=                        | 'header' must be the names of the columns
					op=SET&header="a                      | 'header' must be the names of the columns
					""")
	void settingsThatDoNotFitAreRefusedByName(String query, String detail) {
		String[] parameters = Arrays.stream(query.split("&"))
			.flatMap((parameter) -> Arrays.stream(parameter.split("=", 2)))
			.toArray(String[]::new);
		assertThat(this.service.post(query(parameters), CSV, "a,b\n1,2\n").refusal(400, "invalid-setting"))
			.contains(detail);
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "key", "value", "ttl", "id", "fields", "args" })
	void aNameHasABoundedNumberOfSteps(String setting) {
		String operation = switch (setting) {
			case "fields" -> "HSET";
			case "args" -> "SADD";
			default -> "SET";
		};
		Map<String, String> settings = new LinkedHashMap<>(Map.of("op", operation, "key", "b:{id}"));
		settings.put((operation.equals("SET")) ? "value" : "dryRun", (operation.equals("SET")) ? "v" : "true");
		for (int dots : new int[] { 64, 1000 }) {
			String name = ".".repeat(dots);
			settings.put(setting, (setting.equals("fields")) ? name : "b:{" + name + "}");
			String[] parameters = settings.entrySet()
				.stream()
				.flatMap((parameter) -> Stream.of(parameter.getKey(), parameter.getValue()))
				.toArray(String[]::new);
			assertThat(this.service.post(query(parameters), Service.NDJSON, "{\"id\":1}\n")
				.refusal(400, "invalid-setting")).startsWith("'" + setting + "' has the name '....")
				.endsWith("of " + (dots + 1) + " steps: a name has at most 64, with dots between");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void aNameMayHaveAsManyStepsAsJsonNests() {
		String name = "a" + ".a".repeat(62);
		String object = "{\"a\":".repeat(63) + "7" + "}".repeat(63) + "\n";
		assertThat(Answer
			.counts(this.service
				.post(query("op", "SET", "key", "b:{" + name + "}", "value", "v"), Service.NDJSON, object)
				.report())
			.applied()).isOne();
		assertThat(this.redis.get("b:7")).isEqualTo("v");
	}

	@Test
	void severalTextsAreNull() {
		this.service
			.post(query("op", "HSET", "key", "{id}", "nulls", "skip") + "&null=%5CN&null=", CSV,
					"id,a,b,c\n1,\\N,,\"\"\n")
			.report();
		assertThat(this.redis.hgetall("1")).isEqualTo(Map.of("id", "1", "c", ""));
	}

	@ParameterizedTest
	@CsvSource({ "text/plain, key=%7Ba%7D", "application/x-redis-resp, nulls=skip", "application/json, delimiter=;",
			"application/x-ndjson, header=a", "application/json, comment=%23" })
	void settingsOfAnotherFormatAreRefusedByName(String type, String parameter) {
		assertThat(this.service.post("/v1/jobs?op=SET&" + parameter, type, "x").refusal(400, "invalid-setting"))
			.startsWith("'" + parameter.replaceFirst("=.*", "") + "' has a meaning only for an upload of ")
			.endsWith(", not of " + type);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/1?key=%7Ba%7D&value=v", "/pipehset/1?nulls=skip", "/pipeset/1?header=a" })
	void generatedRecordsHaveNoTemplates(String path) {
		assertThat(this.service.post(path).refusal(400, "invalid-setting"))
			.contains("has a meaning only for an upload");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/piperpop/1?nulls=skip", "/listinput/list?value=v",
			"/v1/jobs?from=scan&match=*&op=DEL&key=a" })
	void callsWithoutUploadsDoNotKnowThem(String path) {
		assertThat(this.service.post(path).status()).isEqualTo(400);
	}

	@Test
	void keysMadeByTemplatesMeetTheRulesOfAllKeys() {
		String path = query("op", "SET", "key", "{a}", "value", "v");
		JsonNode report = this.service.post(path, CSV, "a\npipeset:x\n\"\"\nfine\n").report();
		assertThat(firstError(report).get("code").asString()).isEqualTo("FORBIDDEN");
		assertThat(this.redis.exists("pipeset:x")).isZero();
		assertThat(this.redis.get("fine")).isEqualTo("v");
	}

	/** No template, header or body that anybody thinks of is answered with a 500. */
	@Test
	void randomTemplatesAreAnsweredWithAnAccountOrAProblem() {
		int calls = Integer.getInteger("fuzz.bodies", 1_000);
		List<CompletableFuture<Answer>> answers = new ArrayList<>();
		Map<Integer, Integer> statuses = new LinkedHashMap<>();
		for (int seed = 0; seed < calls; seed++) {
			RandomCall call = new RandomCall(seed);
			answers.add(this.service.sendAsync(call.request(this.service)));
			if (answers.size() == 8 || seed == calls - 1) {
				for (int i = 0; i < answers.size(); i++) {
					Answer answer = answers.get(i).join();
					statuses.merge(answer.status(), 1, Integer::sum);
					assertThat(answer.status()).as("seed %d: %s", seed - answers.size() + 1 + i, answer.text())
						.isIn(200, 400, 413, 415, 422);
					if (answer.status() == 200) {
						answer.report();
					}
				}
				answers.clear();
			}
		}
		assertThat(statuses.get(200)).as("%s", statuses).isGreaterThan(calls / 20);
		assertThat(statuses.get(400)).as("%s", statuses).isGreaterThan(calls / 20);
	}

	/** A request of random settings and a random body, of which many nearly fit. */
	private static final class RandomCall {

		private static final String[] NAMES = { "a", "b", "sid", "user.id", "Größe", "a b", "*", "", "x\"y", "key",
				"value", "ttl" };

		private static final String[] PIECES = { "{", "}", "{{", "}}", "{a}", "{b}", "{*}", "{sid}", "{user.id}", "x",
				":", "\u0000", "é", "%", "{a b}", "\"", "\n" };

		private static final String[] OPERATIONS = { "SET", "HSET", "SADD", "ZADD", "LPUSH", "EXPIRE", "EVALSHA",
				"GEOADD", "XADD", "RPOP", "nonsense" };

		private static final String[] TYPES = { CSV, CSV, TSV, Service.NDJSON, Service.JSON, "text/plain" };

		private static final String[] BYTES = { ",", "\t", ";", "\"", "\n", "\r\n", "{", "}", "[", "]", ":", "null",
				"1", "a", "\\u00e9", "\\", "é", "\u0001", "{\"a\":1}", "\ufeff" };

		private final Random random;

		RandomCall(long seed) {
			this.random = new Random(seed);
		}

		HttpRequest.Builder request(Service service) {
			List<String> parameters = new ArrayList<>();
			String operation = OPERATIONS[(below(3) > 0) ? below(3) : below(OPERATIONS.length)];
			boolean strange = below(5) == 0;
			add(parameters, 98, "op", operation);
			add(parameters, 95, "key", template());
			add(parameters, (strange) ? 50 : (operation.equals("SET")) ? 100 : 0, "value", template());
			add(parameters, (strange || operation.equals("HSET")) ? 40 : 0, "fields", (below(4) > 0) ? "a,b" : names());
			for (int i = below(3); i >= 0; i--) {
				add(parameters, (strange) ? 30 : (operation.endsWith("SET")) ? 0 : 90, "args", template());
			}
			add(parameters, 10, "ttl", template());
			add(parameters, 10, "id", template());
			add(parameters, 30, "nulls", new String[] { "refuse", "skip", "empty" }[below(3)]);
			add(parameters, (strange) ? 50 : 0, "delimiter",
					new String[] { ";", "tab", "|", ",", "\t", "\u0000" }[below(6)]);
			add(parameters, (strange) ? 30 : 0, "header", names());
			add(parameters, 20, "encoding", "base64");
			add(parameters, 20, "results", "all");
			add(parameters, 20, "dryRun", "true");
			String type = TYPES[below(TYPES.length)];
			String body = (type.equals(Service.JSON) || type.equals(Service.NDJSON)) ? objects()
					: (type.equals(TSV)) ? rows().replace(',', '\t') : rows();
			return service.request(query(parameters.toArray(String[]::new)))
				.header("Content-Type", type)
				.POST(BodyPublishers.ofString(broken(body), StandardCharsets.UTF_8));
		}

		private int below(int bound) {
			return this.random.nextInt(bound);
		}

		private void add(List<String> parameters, int percent, String name, String value) {
			if (below(100) < percent) {
				parameters.add(name);
				parameters.add(value);
			}
		}

		private String template() {
			StringBuilder text = new StringBuilder();
			for (int i = below(4); i >= 0; i--) {
				text.append((below(2) == 0) ? "{" + NAMES[below(5)] + "}" : PIECES[below(PIECES.length)]);
			}
			return (below(4) > 0) ? "x:{" + NAMES[below(4)] + "}" : text.toString();
		}

		private String names() {
			return IntStream.rangeClosed(0, below(4))
				.mapToObj((i) -> NAMES[below(NAMES.length)])
				.collect(Collectors.joining(","));
		}

		private String rows() {
			StringBuilder rows = new StringBuilder((below(4) > 0) ? "a,b,sid,user.id" : names()).append('\n');
			for (int i = below(5); i > 0; i--) {
				rows.append(IntStream.range(0, 4)
					.mapToObj((column) -> (below(5) == 0) ? "" : "v" + below(9))
					.collect(Collectors.joining(","))).append('\n');
			}
			return rows.toString();
		}

		private String objects() {
			StringBuilder objects = new StringBuilder();
			for (int i = below(5); i > 0; i--) {
				objects.append("{\"a\":")
					.append((below(5) == 0) ? "null" : below(99))
					.append(",\"sid\":\"s")
					.append(below(9))
					.append("\",\"user\":")
					.append((below(4) == 0) ? "[1]" : "{\"id\":" + below(9) + "}")
					.append(",\"b\":")
					.append((below(4) == 0) ? "{\"x\":null}" : "\"t\\n\"")
					.append("}\n");
			}
			return objects.toString();
		}

		private String broken(String body) {
			StringBuilder text = new StringBuilder(body);
			for (int i = (below(2) == 0) ? 0 : below(4); i > 0; i--) {
				int at = below(text.length() + 1);
				text.insert(at, BYTES[below(BYTES.length)]);
				text.delete(Math.max(0, at - below(3)), at);
			}
			return text.toString();
		}

	}

	/** Files with headers as one meets them, and the call that loads each. */
	private enum RealFile {

		PLAIN(CSV, "sku,name,price\nA-1,Chair,49.90\n", "product:A-1", "{sku=A-1, name=Chair, price=49.90}", "op",
				"HSET", "key", "product:{sku}"),

		ONE_VALUE(CSV, "sku,name,price\nA-1,Chair,49.90\n", "price:A-1", "{value=49.90}", "op", "SET", "key",
				"price:{sku}", "value", "{price}"),

		WHOLE(CSV, "sku,name\nA-1,\"5\"\" shelf\"\n", "A-1", "{value={\"sku\":\"A-1\",\"name\":\"5\\\" shelf\"}}", "op",
				"SET", "key", "{sku}", "value", "{*}"),

		QUOTED("text/csv; charset=utf-8", "\"sku\",\"name\",\"price\"\r\n\"A-1\",\"Chair, oak\",\"49.90\"\r\n",
				"product:A-1", "{name=Chair, oak, price=49.90}", "op", "HSET", "key", "product:{sku}", "fields",
				"name,price"),

		SPACED(CSV, "Order ID,Customer Name,Order Total (EUR)\n17,Ada Lovelace,12.00\n", "order:17",
				"{Customer Name=Ada Lovelace, Order Total (EUR)=12.00}", "op", "HSET", "key", "order:{Order ID}",
				"fields", "Customer Name,Order Total (EUR)"),

		SPACE_BEHIND_COMMA(CSV, "id, city, zip\n1, Bonn, 53111\n", "c:1", "{ city= Bonn}", "op", "HSET", "key",
				"c:{id}", "fields", " city"),

		DOTTED(CSV, "user.id,user.name,address.geo.lat\n7,Ada,51.5\n", "u:7", "{user.name=Ada, address.geo.lat=51.5}",
				"op", "HSET", "key", "u:{user.id}", "fields", "user.name,address.geo.lat"),

		UMLAUTS(CSV, "Kundennummer,Straße,Größe,Ort\n9,Königsallee 1,XL,Düsseldorf\n", "kunde:9",
				"{Straße=Königsallee 1, Größe=XL}", "op", "HSET", "key", "kunde:{Kundennummer}", "fields",
				"Straße,Größe"),

		CHINESE(CSV, "编号,名称\n5,茶\n", "商品:5", "{value=茶}", "op", "SET", "key", "商品:{编号}", "value", "{名称}"),

		EMOJI(CSV, "🔑,📦\nk,box\n", "k", "{value=box}", "op", "SET", "key", "{🔑}", "value", "{📦}"),

		DUPLICATES(CSV, "id,name,amount,amount,note,note\n3,Ada,1,2,x,y\n", "row:3", "{name=Ada}", "op", "HSET", "key",
				"row:{id}", "fields", "name"),

		WITHOUT_NAME(CSV, ",city,population\n0,Bonn,331000\n", "Bonn", "{value=331000}", "op", "SET", "key", "{city}",
				"value", "{population}"),

		BYTE_ORDER_MARK(CSV, "\ufeffid;Betrag;Währung\r\n1;\"1.234,56\";EUR\r\n", "b:1",
				"{id=1, Betrag=1.234,56, Währung=EUR}", "op", "HSET", "key", "b:{id}", "delimiter", ";"),

		QUOTED_BYTE_ORDER_MARK(CSV, "\ufeff\"id\",\"v\"\n\"1\",\"x\"\n", "1", "{value=x}", "op", "SET", "key", "{id}",
				"value", "{v}"),

		COMMA_IN_NAME(CSV, "id,\"Name, First\"\n1,Ada\n", "n:1", "{Name, First=Ada}", "op", "HSET", "key", "n:{id}",
				"fields", "\"Name, First\""),

		QUOTE_AND_BREAK_IN_NAME(CSV, "id,\"the \"\"big\"\"\nvalue\"\n1,x\n", "1", "{value=x}", "op", "SET", "key",
				"{id}", "value", "{the \"big\"\nvalue}"),

		OF_THE_FORMAT(CSV, "op,key,value,ttl\nDEL,k,v,-3\n", "row:k", "{op=DEL, key=k, value=v, ttl=-3}", "op", "HSET",
				"key", "row:{key}"),

		TABS(TSV, "gene_id\tgene \"name\"\tp-value\nENSG1\tTP53\t1e-9\n", "g:ENSG1",
				"{gene \"name\"=TP53, p-value=1e-9}", "op", "HSET", "key", "g:{gene_id}", "fields",
				"gene \"name\",p-value"),

		PIPES_WITHOUT_HEADER(CSV, "1|Ada|London\n", "p:1", "{name=Ada, city=London}", "op", "HSET", "key", "p:{id}",
				"fields", "name,city", "delimiter", "|", "header", "id,name,city"),

		MANY(CSV, columns("c", 200) + "\n" + columns("v", 200) + "\n", "wide:v7", "{value=v199}", "op", "SET", "key",
				"wide:{c7}", "value", "{c199}"),

		MANY_FIELDS(CSV, columns("column ", 200) + "\n" + columns("v", 200) + "\n", "wide:v0",
				IntStream.range(0, 200)
					.mapToObj((i) -> "column " + i + "=v" + i)
					.collect(Collectors.joining(", ", "{", "}")),
				"op", "HSET", "key", "wide:{column 0}");

		private final String type;

		private final String body;

		private final String key;

		private final String hash;

		private final String[] parameters;

		RealFile(String type, String body, String key, String hash, String... parameters) {
			this.type = type;
			this.body = body;
			this.key = key;
			this.hash = hash;
			this.parameters = parameters;
		}

		private static String columns(String prefix, int count) {
			return IntStream.range(0, count).mapToObj((i) -> prefix + i).collect(Collectors.joining(","));
		}

	}

}
