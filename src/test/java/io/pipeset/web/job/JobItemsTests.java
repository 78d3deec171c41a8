package io.pipeset.web.job;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.record.Operation;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.SpoolFiles;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * All records that did not run as asked can be downloaded, and posted again: then exactly
 * those run.
 */
@ServiceTest(properties = { "pipeset.spool.directory=target/spool/items", "pipeset.limits.max-items=3",
		"pipeset.limits.max-inflated-bytes=1MB", "pipeset.security.scripts=true" })
class JobItemsTests {

	private static final JsonMapper mapper = JsonMapper.builder().build();

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	JobItemsTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 4 })
	void eachFailureIsListedInTheOrderOfTheRecords(int lanes) {
		for (int i = 0; i < 1000; i += 3) {
			this.redis.set("k" + i, "a string");
		}
		String location = ended("/v1/jobs?op=HSET&concurrency=" + lanes, Service.NDJSON,
				IntStream.range(0, 1000)
					.mapToObj((i) -> (i == 500) ? "bad\n"
							: "{\"key\":\"k" + i + "\",\"id\":\"r" + i + "\",\"fields\":{\"n\":" + i + "}}\n")
					.collect(Collectors.joining()));
		List<JsonNode> items = items(location, "");
		assertThat(items).hasSize(335);
		assertThat(items).extracting((item) -> item.at("/error/index").asLong()).isSorted();
		assertThat(items.get(1)).hasToString("{\"id\":\"r3\",\"op\":\"HSET\",\"key\":\"k3\",\"args\":[\"n\",\"3\"],"
				+ "\"error\":{\"status\":\"rejected\",\"code\":\"WRONGTYPE\",\"message\":\"WRONGTYPE Operation against a"
				+ " key holding the wrong kind of value\",\"retryable\":false,\"index\":3,\"line\":4}}");
		assertThat(items.get(167).at("/error/code").asString()).isEqualTo("MALFORMED");
		assertThat(items(location, "?status=unknown,unprocessed")).isEmpty();
		this.redis.flushall();
		Answer again = this.service.post("/v1/jobs", Service.NDJSON, this.service.get(location + "/items").text());
		assertThat(Answer.counts(again.report())).isEqualTo(new Counts(335, 334, 0, 1, 0, 0));
		assertThat(this.redis.dbsize()).isEqualTo(334);
		assertThat(this.redis.hget("k999", "n")).isEqualTo("999");
	}

	@Test
	void rowThatCouldNotBecomeARecordIsListedAsItCame() {
		String object = "{\"key\":\"\\u0041\",\"x\":1}";
		isListed("/v1/jobs?op=SET", "application/x-ndjson", object + "\n", object);
		isListed("/v1/jobs?op=SET", "application/json", "[" + object + "]", object);
		isListed("/v1/jobs?op=SET&key=%7Ba%7D&value=%7Bb%7D", "text/csv", "a,b\n\"x \"\"y\"\"\n\",\n",
				"\"x \"\"y\"\"\n\",");
		isListed("/v1/jobs", "text/plain", "SET \"\\x41\" 1 FOO\n", "SET \"\\x41\" 1 FOO");
		isListed("/v1/jobs", "text/plain", "SET \u00ff 1\n", Map.of("base64", "U0VUIP8gMQ=="));
		isListed("/v1/jobs", "application/x-redis-resp", "*1\r\n$3\r\nSET\r\n", "*1\r\n$3\r\nSET\r\n");
	}

	private void isListed(String path, String type, String body, Object raw) {
		String location = location(preferring(path).header("Content-Type", type)
			.POST(BodyPublishers.ofByteArray(body.getBytes(StandardCharsets.ISO_8859_1))));
		JsonNode expected = mapper.valueToTree(raw);
		assertThat(items(location, "")).singleElement().extracting((item) -> item.get("raw")).isEqualTo(expected);
		assertThat(this.service.get(location).json().at("/items/0/raw")).isEqualTo(expected);
	}

	@Test
	void recordThatWasRefusedForItsContentHasNoRaw() {
		String location = ended("/v1/jobs", Service.NDJSON, "[\"SET\",\"pipeset:x\",\"v\"]\n");
		assertThat(items(location, "")).singleElement().satisfies((item) -> assertThat(item.has("raw")).isFalse());
	}

	@Test
	void rawOfAReportIsCutBetweenCharacters() {
		for (int ahead = 0; ahead < 4; ahead++) {
			String text = "x".repeat(ahead) + "\uD83D\uDE00".repeat(300);
			String location = ended("/v1/jobs", Service.NDJSON, text + "\n");
			assertThat(items(location, "").get(0).get("raw").asString()).isEqualTo(text);
			String raw = this.service.get(location).json().at("/items/0/raw").asString();
			assertThat(text).startsWith(raw);
			assertThat(raw.getBytes(StandardCharsets.UTF_8).length).isBetween(1021, 1024);
		}
	}

	@Test
	void recordsThatTheJobDidNotComeToAreUnprocessed() {
		String location = ended("/v1/jobs?maxErrors=0&batchSize=1", Service.NDJSON,
				"bad\n" + IntStream.range(0, 5)
					.mapToObj((i) -> "[\"SET\",\"k" + i + "\",\"v\",\"EX\",\"60\",\"NX\"]\n")
					.collect(Collectors.joining()));
		assertThat(items(location, "?status=rejected")).hasSize(1);
		assertThat(items(location, "?status=unprocessed")).hasSize(5);
		this.service.post("/v1/jobs", Service.NDJSON, this.service.get(location + "/items?status=unprocessed").text())
			.report();
		assertThat(this.redis.dbsize()).isEqualTo(5);
		assertThat(this.redis.ttl("k4")).isBetween(1L, 60L);
	}

	@Test
	void recordsOfEveryFormatArePostable() throws IOException {
		this.redis.set("session:18", "a string");
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (OutputStream gzip = new GZIPOutputStream(bytes)) {
			gzip.write("sid,name\n17,Ada\n18,\"G\u00e9, \"\"x\"\"\"\n".getBytes(StandardCharsets.UTF_8));
		}
		String csv = location(preferring("/v1/jobs?op=HSET&key=session:%7Bsid%7D&fields=name&ttl=60")
			.header("Content-Type", "text/csv")
			.header("Content-Encoding", "gzip")
			.POST(BodyPublishers.ofByteArray(bytes.toByteArray())));
		assertThat(items(csv, "")).hasSize(1);
		this.redis.set("bin", "a string");
		byte[] resp = "*4\r\n$4\r\nHSET\r\n$3\r\nbin\r\n$2\r\n\u00ff\u0000\r\n$1\r\n\u00fe\r\n"
			.getBytes(StandardCharsets.ISO_8859_1);
		String binary = location(preferring("/v1/jobs").header("Content-Type", "application/x-redis-resp")
			.POST(BodyPublishers.ofByteArray(resp)));
		this.redis.flushall();
		for (String location : List.of(csv, binary)) {
			this.service.post("/v1/jobs", Service.NDJSON, this.service.get(location + "/items").text()).report();
		}
		assertThat(this.redis.hgetall("session:18")).isEqualTo(Map.of("name", "G\u00e9, \"x\""));
		assertThat(this.redis.ttl("session:18")).isBetween(1L, 60L);
		assertThat(this.redis.hlen("bin")).isOne();
		assertThat(items(binary, "").get(0).at("/args/1").asString()).isEqualTo("/g==");
	}

	@Test
	void largeArgumentsArePostable() {
		String text = "a" + "\u00e9\ud83d\ude00\"\\\n\u0001".repeat(20_000);
		byte[] bytes = new byte[200_001];
		new Random(7).nextBytes(bytes);
		String location = ended("/v1/jobs?dryRun=true", Service.NDJSON,
				mapper.writeValueAsString(List.of("SET", "text", text)) + "\nbad\n");
		String binary = ended("/v1/jobs?dryRun=true&encoding=base64", Service.NDJSON, mapper.writeValueAsString(
				List.of("SET", base64("binary".getBytes(StandardCharsets.UTF_8)), base64(bytes))) + "\nbad\n");
		assertThat(items(location, "?status=unprocessed").get(0).at("/args/0").asString()).isEqualTo(text);
		assertThat(items(binary, "?status=unprocessed").get(0).at("/args/0").asString()).isEqualTo(base64(bytes));
	}

	private static String base64(byte[] bytes) {
		return Base64.getEncoder().encodeToString(bytes);
	}

	@ParameterizedTest
	@ValueSource(strings = { "[\"JSON.SET\",\"a\",\"$\",\"{}\"]", "[\"JSON.MSET\",\"a\",\"$\",\"{}\"]",
			"[\"TS.MADD\",\"a\",\"1\",\"2\"]", "[\"MSETEX\",\"2\",\"a\",\"1\",\"b\",\"2\",\"EX\",\"9\"]",
			"[\"COPY\",\"a\",\"b\",\"REPLACE\"]", "[\"PERSIST\",\"a\"]", "[\"RPOP\",\"a\",\"2\"]",
			"[\"SET\",\"a\",\"1\",\"NX\"]", "[\"BITOP\",\"AND\",\"a\",\"b\"]",
			"[\"XGROUP\",\"CREATE\",\"a\",\"readers\",\"0\",\"MKSTREAM\"]" })
	void recordsAndTheirCommandsArePostableWhateverTheirOperation(String command) {
		String location = ended("/v1/jobs?maxErrors=0", Service.NDJSON, "bad\n" + command);
		String item = this.service.get(location + "/items?status=unprocessed").text();
		JsonNode again = this.service.post("/v1/jobs?dryRun=true&results=all", Service.NDJSON, item).report();
		assertThat(again.at("/items/0/command")).as(item).hasToString(command);
	}

	@ParameterizedTest
	@ValueSource(strings = { ".body", ".notes" })
	void recordsWhoseFilesSomebodyHasRemovedAreGone(String file) throws IOException {
		String location = ended("/v1/jobs", Service.NDJSON, "bad\n");
		String name = location.substring(location.lastIndexOf('/') + 1) + file;
		Files.delete(SpoolFiles.ending(Path.of("target/spool/items"), name).get(0));
		Answer answer = this.service.get(location + "/items");
		assertThat(answer.refusal(410, "gone")).contains("cannot be read any more", "pipeset.spool.directory");
		assertThat(answer.json().at("/instance").asString()).isEqualTo(location + "/items");
	}

	/** The setting may be the service's default. */
	@Test
	void textIsTextWhateverTheEncodingThatItIsPostedWith() {
		this.redis.set("text", "a string");
		String call = "/v1/jobs?encoding=base64";
		String location = ended(call, Service.NDJSON, "[\"HSET\",\"dGV4dA==\",\"bmFt\",\"QWRh\"]\n");
		this.redis.flushall();
		this.service.post(call, Service.NDJSON, this.service.get(location + "/items").text()).report();
		assertThat(this.redis.hgetall("text")).isEqualTo(Map.of("nam", "Ada"));
	}

	@Test
	void aBodyThatInflatesToMoreThanIsAllowedHasTheRecordsAheadOfTheLimit() throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (OutputStream gzip = new GZIPOutputStream(bytes)) {
			gzip.write(("bad\n" + "[\"SET\",\"a\",\"1\"]\n".repeat(100_000)).getBytes(StandardCharsets.UTF_8));
		}
		String location = location(preferring("/v1/jobs?maxErrors=0&batchSize=1").header("Content-Type", Service.NDJSON)
			.header("Content-Encoding", "gzip")
			.POST(BodyPublishers.ofByteArray(bytes.toByteArray())));
		assertThat(items(location, "?status=rejected")).hasSize(1);
		assertThat(items(location, "?status=unprocessed")).hasSizeBetween(60_000, 65_536);
	}

	@ParameterizedTest
	@MethodSource("io.pipeset.record.Operation#values")
	void recordsOfEveryOperationArePostable(Operation operation) {
		String words = switch (operation.name()) {
			case "SETRANGE" -> "k 1 v";
			case "RPOP", "LPOP", "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "INCRBY", "INCRBYFLOAT", "DECRBY" ->
				"k 5";
			case "PERSIST", "GETDEL", "INCR", "DECR" -> "k";
			case "MSET" -> "a v b w";
			case "RESTORE" -> "k 0 v REPLACE";
			case "HSET", "HSETNX" -> "k f v";
			case "HINCRBY", "HINCRBYFLOAT", "ZINCRBY" -> "k 5 5";
			case "ZADD" -> "k NX 5 m";
			case "XADD" -> "k * f v";
			case "GEOADD" -> "k 13.36 38.11 m";
			case "SETBIT", "SETEX", "PSETEX" -> "k 1 1";
			case "MSETEX" -> "2 a v b w EX 10";
			case "HSETEX" -> "k EX 10 FIELDS 1 f v";
			case "HEXPIRE", "HPEXPIRE", "HEXPIREAT", "HPEXPIREAT" -> "k 10 FIELDS 1 f";
			case "LINSERT" -> "k BEFORE a b";
			case "ZUNIONSTORE", "ZINTERSTORE", "ZDIFFSTORE" -> "k 1 a";
			case "COPY" -> "a b REPLACE";
			case "LMOVE" -> "a b LEFT RIGHT";
			case "SMOVE" -> "a b m";
			case "XTRIM" -> "k MAXLEN 5";
			case "JSON_SET" -> "k $ 1";
			case "JSON_MSET" -> "a $ 1 b $ 2";
			case "VADD" -> "k VALUES 2 1 2 e";
			case "TS_MADD" -> "a 1 2 b 3 4";
			case "EVALSHA" -> "e0e1f9fabfc9d4800c877a703b823ac0578ff8db 1 k a";
			default -> "a b";
		};
		String record = "[\"" + operation + "\",\"" + words.replace(" ", "\",\"") + "\"]";
		String location = ended("/v1/jobs?dryRun=true", Service.NDJSON, record + "\nbad\n");
		Answer again = this.service.post("/v1/jobs?dryRun=true&results=all", Service.NDJSON,
				this.service.get(location + "/items?status=unprocessed").text());
		assertThat(again.report().at("/items/0/command")).hasToString(record);
	}

	@Test
	void aNoopIsListedIfItIsAskedFor() {
		this.redis.set("a", "kept");
		String location = ended("/v1/jobs", "text/csv",
				"op,key,arg1,arg2\nSETNX,a,1,\nSET,b,2,\nEXPIRE,c,60,GT\nHSETNX,d,f,3\nHSETNX,d,f,4\n");
		assertThat(items(location, "")).isEmpty();
		assertThat(items(location, "?status=noop")).extracting((item) -> item.get("op").asString())
			.containsExactly("SETNX", "EXPIRE", "HSETNX");
		this.redis.del("a");
		String noops = this.service.get(location + "/items?status=noop,rejected").text();
		assertThat(Answer.counts(this.service.post("/v1/jobs", Service.NDJSON, noops).report()))
			.isEqualTo(new Counts(3, 1, 2, 0, 0, 0));
		assertThat(this.redis.get("a")).isEqualTo("1");
	}

	@Test
	void aJobWhoseRecordsAllRanHasNone() {
		String location = ended("/v1/jobs", Service.NDJSON, "[\"SET\",\"a\",\"1\"]\n");
		assertThat(this.service.get(location + "/items").text()).isEmpty();
	}

	@Test
	void otherJobsSayWhyTheyHaveNone() {
		String sync = this.service.post("/pipeset/1").header("Location");
		assertThat(this.service.get(sync + "/items").refusal(409, "no-items")).contains("Prefer: respond-async");
		String running = location202(preferring("/v1/jobs?rateLimit=1").header("Content-Type", Service.NDJSON)
			.POST(BodyPublishers.ofString("[\"SET\",\"a\",\"1\"]\n".repeat(1000))));
		assertThat(this.service.get(running + "/items").refusal(409, "not-ended")).contains("has not ended");
		await().until(() -> this.redis.exists("a") == 1);
		this.service.delete(running);
		awaitEnd(running);
		assertThat(items(running, "").size()).isBetween(900, 999);
		assertThat(this.service.get(running + "/items?status=applied").refusal(400, "invalid-setting"))
			.contains("one or more of noop, rejected, unknown, unprocessed");
	}

	private List<JsonNode> items(String location, String query) {
		Answer answer = this.service.get(location + "/items" + query);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		assertThat(answer.header("Content-Type")).isEqualTo("application/x-ndjson");
		return Arrays.stream(answer.text().split("\n", -1))
			.filter((line) -> !line.isEmpty())
			.map(mapper::readTree)
			.toList();
	}

	private HttpRequest.Builder preferring(String call) {
		return this.service.request(call).header("Prefer", "respond-async");
	}

	private String ended(String call, String type, String body) {
		return location(preferring(call).header("Content-Type", type).POST(BodyPublishers.ofString(body)));
	}

	private String location(HttpRequest.Builder request) {
		String location = location202(request);
		awaitEnd(location);
		return location;
	}

	private String location202(HttpRequest.Builder request) {
		Answer answer = this.service.send(request);
		assertThat(answer.status()).as(answer.text()).isEqualTo(202);
		return answer.header("Location");
	}

	private void awaitEnd(String location) {
		await().until(() -> this.service.get(location).headers().firstValue("Retry-After").isEmpty());
	}

}
