package io.pipeset.web.upload;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import io.pipeset.service.Wire;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

/** Each format keeps its own rules, seen from outside. */
@ServiceTest(properties = { "pipeset.limits.max-inflated-bytes=1MB", "pipeset.limits.max-record-bytes=4KB" })
class FormatTests {

	private static final String CSV = "text/csv";

	private static final String RESP = "application/x-redis-resp";

	private static final String TEXT = "text/plain";

	private static final String SET = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	FormatTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void rowsOfTheShortcutsAreOfTheirOperation() {
		this.service.post("/pipeset/2", CSV, "key,value,ttl\na,1,60\nb,\"x,y\",\n").report();
		this.service.post("/pipehset/1", CSV, "key,name,age\nh,Ada,36\n").report();
		assertThat(this.redis.get("b")).isEqualTo("x,y");
		assertThat(this.redis.ttl("a")).isBetween(1L, 60L);
		assertThat(this.redis.hgetall("h")).containsOnly(entry("name", "Ada"), entry("age", "36"));
	}

	@Test
	void commandsOfAShortcutNameItsOperation() {
		this.service.post("/pipeset/1", TEXT, "SET k v\n").report();
		this.service.post("/pipeset/1", RESP, SET).report();
		assertThat(this.redis.mget("k", "a")).extracting((value) -> value.getValue()).containsExactly("v", "1");
		this.service.post("/pipeset/3", TEXT, "SET k v\n").job(422, "count-mismatch", "failed");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ",\"ttl\":60" })
	void theLastValueOfARepeatedFieldWins(String ttl) {
		this.service
			.ndjson("/v1/jobs", "{\"op\":\"HSET\",\"key\":\"h\",\"fields\":{\"a\":1,\"b\":2,\"a\":3}" + ttl + "}")
			.report();
		assertThat(this.redis.hgetall("h")).containsOnly(entry("a", "3"), entry("b", "2"));
	}

	@Test
	void aBadRowIsListedWithItsLineAndKey() {
		JsonNode report = this.service.post("/v1/jobs?op=SET", CSV, "key,value\na,1\nb,1,2\n\nc,\"1\n2\"\nd,\u0000\n")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(4, 3, 0, 1, 0, 0));
		assertThat(report.at("/items/0/line").asInt()).isEqualTo(3);
		assertThat(report.at("/items/0/index").asInt()).isOne();
		assertThat(report.at("/items/0/key").asString()).isEqualTo("b");
		assertThat(report.at("/items/0/op").asString()).isEqualTo("SET");
		assertThat(this.redis.get("c")).isEqualTo("1\n2");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			?op=SET  | user,value     | no column 'key'; found: user, value
			?op=SET  | key,value,key  | two columns 'key'
			?op=HSET | ''             | the body is empty
			''       | key,value      | no column 'op'
			""")
	void aHeaderThatDoesNotFitIsNamed(String query, String header, String message) {
		String rows = (header.isEmpty()) ? "" : header + "\na,1\n";
		Answer answer = this.service.post("/v1/jobs" + query, CSV, rows);
		JsonNode job = answer.job(400, "malformed-body", "failed");
		assertThat(answer.json().at("/detail").asString()).startsWith("At byte 0 of the body: ").contains(message);
		assertThat(Answer.counts(job)).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void whereRespBreaksIsToldAndWhatWasBeforeItRan() {
		Answer answer = this.service.post("/v1/jobs", RESP, SET + "DEL x\r\n*2\r\n$3\r\nDEL\r\n$-2\r\n" + SET);
		JsonNode job = answer.job(400, "malformed-body", "failed");
		int place = SET.length() + "DEL x\r\n*2\r\n$3\r\nDEL\r\n$-".length();
		assertThat(job.at("/byteOffset").asInt()).isEqualTo(place);
		assertThat(answer.json().at("/detail").asString()).startsWith("At byte " + place + " of the body: ");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(job.at("/nextIndex").asInt()).isEqualTo(2);
		assertThat(this.redis.get("a")).isEqualTo("1");
	}

	@Test
	void aRespValueMayBeAnyBytesAndTooLarge() {
		JsonNode report = this.service
			.post("/v1/jobs", RESP,
					"*3\r\n$3\r\nset\r\n$1\r\nb\r\n$14\r\n\r\nFLUSHALL\r\n\0\u007f\r\n*2\r\n$3\r\nDEL\r\n$5000\r\n"
							+ "x".repeat(5000) + "\r\n" + SET + "FLUSHALL\r\n")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(4, 2, 0, 2, 0, 0));
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("TOO_LARGE");
		assertThat(report.at("/items/1/error/code").asString()).isEqualTo("UNKNOWN_OPERATION");
		assertThat(this.redis.get("b")).isEqualTo("\r\nFLUSHALL\r\n\0\u007f");
	}

	@ParameterizedTest
	@ValueSource(strings = { "gzip", "GZIP", "x-gzip", "zstd", "Zstd" })
	void everyFormatMayBeCompressed(String encoding) {
		assertApplied(encoding, Service.NDJSON, "[\"SET\",\"a\",\"1\"]\n");
		assertApplied(encoding, Service.JSON, "[[\"SET\",\"b\",\"1\"]]");
		assertApplied(encoding, CSV, "op,key,arg1\nSET,c,1\n");
		assertApplied(encoding, RESP, "*3\r\n$3\r\nSET\r\n$1\r\nd\r\n$1\r\n1\r\n");
		assertApplied(encoding, TEXT, "SET e 1");
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "b", "c", "d", "e");
	}

	@Test
	void whereGzipBreaksIsToldAndWhatWasBeforeItRan() {
		byte[] whole = gzip("SET a 1\nSET b 2\nSET c");
		int cut = whole.length - 3;
		Answer answer = post("gzip", TEXT, Arrays.copyOf(whole, cut));
		JsonNode job = answer.job(400, "malformed-body", "failed");
		assertThat(job.at("/byteOffset").asInt()).isEqualTo(cut);
		assertThat(answer.json().at("/detail").asString()).startsWith("At byte " + cut + " of the compressed body: ");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "b");
	}

	@Test
	void whereZstdBreaksIsToldAndWhatWasBeforeItRan() {
		byte[] whole = join(Zstd.compress("SET a 1\nSET b 2\n".getBytes(StandardCharsets.UTF_8)),
				Zstd.compress("SET c 3\nSET d 4\n".getBytes(StandardCharsets.UTF_8)));
		Answer answer = post("zstd", TEXT, Arrays.copyOf(whole, whole.length - 3));
		JsonNode job = answer.job(400, "malformed-body", "failed");
		assertThat(job.at("/byteOffset").asInt()).isEqualTo(whole.length - 3);
		assertThat(answer.json().at("/detail").asString()).contains("the body ends inside zstd's data");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		byte[] plain = Zstd.compress("SET a 1".getBytes(StandardCharsets.UTF_8));
		Answer refused = post("identity", TEXT, plain);
		refused.job(400, "malformed-body", "failed");
		assertThat(refused.json().at("/detail").asString()).contains("-H 'Content-Encoding: zstd'");
	}

	@Test
	void whatIsFlushedIsSentWhileAnUploaderWithZstdPauses() throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		ZstdOutputStreamNoFinalizer zstd = new ZstdOutputStreamNoFinalizer(bytes);
		zstd.write("SET a 1\nSET b".getBytes(StandardCharsets.UTF_8));
		zstd.flush();
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Content-Type: text/plain", "Content-Encoding: zstd",
				"Transfer-Encoding: chunked")) {
			wire.chunk(bytes.toByteArray());
			await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> assertThat(this.redis.get("a")).isEqualTo("1"));
			assertThat(this.redis.exists("b")).isZero();
			bytes.reset();
			zstd.write(" 2\n".getBytes(StandardCharsets.UTF_8));
			zstd.close();
			wire.chunk(bytes.toByteArray()).lastChunk();
			assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		}
	}

	private static byte[] join(byte[] first, byte[] second) {
		byte[] joined = Arrays.copyOf(first, first.length + second.length);
		System.arraycopy(second, 0, joined, first.length, second.length);
		return joined;
	}

	@ParameterizedTest
	@CsvSource({ "'', ends inside gzip", "SET a 1, 'expected gzip''s byte 0x1F, found byte 0x53'" })
	void whatIsNotGzippedIsToldAtItsFirstByte(String body, String message) {
		Answer answer = post("gzip", TEXT, body.getBytes(StandardCharsets.UTF_8));
		assertThat(answer.job(400, "malformed-body", "failed").at("/byteOffset").asInt(-1)).isZero();
		assertThat(answer.json().at("/detail").asString()).contains(message);
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void whereFramingBreaksIsToldInTheInflatedBody() {
		Answer answer = post("gzip", Service.JSON, gzip("[[\"SET\",\"a\",\"1\"],\n}"));
		assertThat(answer.job(400, "malformed-body", "failed").at("/byteOffset").asInt()).isEqualTo(18);
		assertThat(answer.json().at("/detail").asString()).startsWith("At byte 18 of the inflated body: ");
	}

	@ParameterizedTest
	@ValueSource(strings = { " ", "x", "\n", "SET k v\n" })
	void aBombStopsAtTheLimit(String filling) {
		byte[] bomb = gzip("SET a 1\n" + filling.repeat((64 << 20) / filling.length()));
		assertThat(bomb.length).isLessThan(1 << 20);
		Answer answer = post("gzip", TEXT, bomb);
		JsonNode job = answer.job(413, "limit", "failed");
		assertThat(answer.json().at("/detail").asString()).isEqualTo(
				"The inflated body has more than 1048576 bytes;" + " pipeset.limits.max-inflated-bytes allows 1048576");
		assertThat(Answer.counts(job).applied()).isBetween(1L, 1L << 17);
		assertThat(this.redis.get("a")).isEqualTo("1");
	}

	@Test
	void twoContentEncodingsAreNotOne() throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Content-Type: text/plain", "Content-Encoding: identity",
				"Content-Encoding: gzip", "Content-Length: 7")) {
			Answer answer = wire.send("SET a 1").answer();
			assertThat(answer.refusal(415, "unsupported-content-encoding")).contains("'identity, gzip'");
			assertThat(answer.header("Accept-Encoding")).isEqualTo("gzip, zstd, identity");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "text/csv, 'op,key,arg1\nSET,a,1\nSET,b,', '2\n'", "text/plain, 'SET a 1\nSET b', ' 2\n'",
			"application/x-redis-resp, 'SET a 1\r\n*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$1\r\n', '2\r\n'" })
	void whatIsThereIsSentWhileAnUploaderPauses(String type, String first, String rest) throws IOException {
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Content-Type: " + type, "Transfer-Encoding: chunked")) {
			wire.chunk(first);
			await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> assertThat(this.redis.get("a")).isEqualTo("1"));
			assertThat(this.redis.exists("b")).isZero();
			wire.chunk(rest).lastChunk();
			assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		}
		assertThat(this.redis.get("b")).isEqualTo("2");
	}

	@Test
	void whatIsFlushedIsSentWhileAGzippingUploaderPauses() throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		GZIPOutputStream gzip = new GZIPOutputStream(bytes, true);
		gzip.write("SET a 1\nSET b".getBytes(StandardCharsets.UTF_8));
		gzip.flush();
		try (Wire wire = Wire.post(this.service, "/v1/jobs", "Content-Type: text/plain", "Content-Encoding: gzip",
				"Transfer-Encoding: chunked")) {
			wire.chunk(bytes.toByteArray());
			await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> assertThat(this.redis.get("a")).isEqualTo("1"));
			assertThat(this.redis.exists("b")).isZero();
			bytes.reset();
			gzip.write(" 2\n".getBytes(StandardCharsets.UTF_8));
			gzip.close();
			wire.chunk(bytes.toByteArray()).lastChunk();
			assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		}
	}

	@ParameterizedTest
	@CsvSource({ "windows-1252", "ISO-8859-1", "UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "utf-8", "\"utf-16\"" })
	void rowsAndTextMayBeOfAnyCharset(String name) {
		Charset charset = Charset.forName(name.replace("\"", ""));
		for (String encoding : new String[] { "identity", "gzip" }) {
			for (String prefer : new String[] { "respond-sync", "respond-async" }) {
				this.redis.flushall();
				load(CSV + "; charset=" + name, "op,key,arg1\nSET,a,Zürich\n".getBytes(charset), encoding, prefer);
				load("text/tab-separated-values;charset=" + name, "op\tkey\targ1\nSET\tb\tZürich\n".getBytes(charset),
						encoding, prefer);
				load(TEXT + ";charset=" + name, "SET c Zürich".getBytes(charset), encoding, prefer);
				await().untilAsserted(
						() -> assertThat(this.redis.mget("a", "b", "c")).extracting((value) -> value.getValueOrElse(""))
							.containsOnly("Zürich"));
			}
		}
	}

	private void load(String type, byte[] body, String encoding, String prefer) {
		assertThat(this.service
			.send(this.service.request("/v1/jobs")
				.header("Content-Type", type)
				.header("Content-Encoding", encoding)
				.header("Prefer", prefer)
				.POST(BodyPublishers.ofByteArray((encoding.equals("gzip")) ? gzip(body) : body)))
			.status()).isEqualTo((prefer.equals("respond-async")) ? 202 : 200);
	}

	@Test
	void bytesThatAreNotOfTheCharsetEndTheJob() {
		byte[] body = "SET a é\nSET b ?\n".getBytes(StandardCharsets.UTF_16BE);
		body[body.length - 4] = (byte) 0xD8;
		Answer answer = this.service.send(this.service.request("/v1/jobs")
			.header("Content-Type", TEXT + ";charset=utf-16be")
			.POST(BodyPublishers.ofByteArray(body)));
		assertThat(Answer.counts(answer.job(400, "malformed-body", "failed"))).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
		assertThat(answer.json().at("/detail").asString()).contains("not UTF-16BE");
		assertThat(this.redis.get("a")).isEqualTo("é");
	}

	@ParameterizedTest
	@ValueSource(strings = { "sep=;\n", "sep=;\r\n", "\ufeffsep=;\r\n" })
	void theFirstLineOfExcelNamesTheDelimiter(String first) {
		JsonNode report = this.service.post("/v1/jobs?op=SET", CSV, first + "key;value\na;1,5\nb\nc;\"x;y\"\n")
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 2, 0, 1, 0, 0));
		assertThat(report.at("/items/0/line").asInt()).isEqualTo(4);
		assertThat(this.redis.get("a")).isEqualTo("1,5");
		assertThat(this.redis.get("c")).isEqualTo("x;y");
		this.service.post("/v1/jobs?op=SET&header=key,value", CSV, first + "d;4\n").report();
		assertThat(this.redis.get("d")).isEqualTo("4");
		this.service.post("/v1/jobs?op=HSET", CSV, "sep=;;\n").job(400, "malformed-body", "failed");
	}

	private void assertApplied(String encoding, String type, String body) {
		byte[] text = body.getBytes(StandardCharsets.UTF_8);
		byte[] compressed = (encoding.equalsIgnoreCase("zstd")) ? Zstd.compress(text) : gzip(text);
		assertThat(Answer.counts(post(encoding, type, compressed).report())).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
	}

	private Answer post(String encoding, String type, byte[] body) {
		return this.service.send(this.service.request("/v1/jobs")
			.header("Content-Type", type)
			.header("Content-Encoding", encoding)
			.POST(BodyPublishers.ofByteArray(body)));
	}

	private static byte[] gzip(String body) {
		return gzip(body.getBytes(StandardCharsets.UTF_8));
	}

	static byte[] gzip(byte[] body) {
		ByteArrayOutputStream gzip = new ByteArrayOutputStream();
		try (OutputStream out = new GZIPOutputStream(gzip)) {
			out.write(body);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
		return gzip.toByteArray();
	}

}
