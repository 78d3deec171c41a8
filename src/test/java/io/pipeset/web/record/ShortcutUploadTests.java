package io.pipeset.web.record;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

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

/** A shortcut never mistakes an upload for a request to generate records. */
@ServiceTest
class ShortcutUploadTests {

	private static final String FORM = "application/x-www-form-urlencoded";

	private static final String THREE_SETS = """
			{"key":"a","value":"1"}
			{"key":"b","value":"2"}
			{"key":"c","value":"3"}
			""";

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	ShortcutUploadTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void uploadedRecordsOfPipesetAreSets() {
		JsonNode report = this.service.post("/pipeset/3", Service.NDJSON, THREE_SETS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		assertThat(report.at("/settings/op").asString()).isEqualTo("SET");
		assertThat(this.redis.dbsize()).isEqualTo(3);
		assertThat(this.redis.get("c")).isEqualTo("3");
	}

	@Test
	void uploadedRecordsOfPipehsetAreHashes() {
		this.service.ndjson("/pipehset/1", "{\"key\":\"h\",\"fields\":{\"name\":\"Ada\",\"age\":36}}").report();
		assertThat(this.redis.hgetall("h")).containsOnly(entry("name", "Ada"), entry("age", "36"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					/pipeset/3      | application/x-ndjson     | {"key":"a","value":1}%n["DEL","stays"]%n{"op":"set","key":"b","value":1}
					/v1/jobs?op=SET | application/x-ndjson     | ["SET","a",1]%n{"op":"DEL","key":"stays"}%n["SET","b",1]
					/v1/jobs?op=SET | application/json         | [["SET","a",1],{"op":"DEL","key":"stays"},["SET","b",1]]
					/pipeset/3      | text/csv                 | op,key,arg1%nSET,a,1%nDEL,stays,%n,b,1
					/v1/jobs?op=set | text/csv                 | op,key,arg1%n,a,1%ndel,stays,%nset,b,1
					/pipeset/3      | text/plain               | SET a 1%nDEL stays%nset b 1
					/v1/jobs?op=SET | application/x-redis-resp | SET a 1%nDEL stays%nset b 1
					/v1/jobs?op=SET&dryRun=true | text/plain   | SET a 1%nDEL stays%nset b 1
					""")
	void whereTheRequestNamesTheOperationNoRecordRunsAnother(String path, String type, String body) {
		this.redis.set("stays", "1");
		JsonNode report = this.service.post(path, type, body.replace("%n", "\n") + "\n").report();
		boolean dryRun = path.contains("dryRun");
		assertThat(Answer.counts(report))
			.isEqualTo((dryRun) ? new Counts(3, 0, 0, 1, 0, 2) : new Counts(3, 2, 0, 1, 0, 0));
		assertThat(report.at("/items/0/op").asString()).isEqualTo("DEL");
		assertThat(report.at("/items/0/error/code").asString()).isEqualTo("FORBIDDEN");
		assertThat(report.at("/items/0/error/message").asString())
			.isEqualTo("the record is a DEL, and the request is for SET alone:"
					+ " post records of several operations to /v1/jobs, without 'op'");
		assertThat(this.redis.exists("a", "b", "stays")).isEqualTo((dryRun) ? 1 : 3);
	}

	@Test
	void aColumnOfOperationsDoesNotRunThemUnderThePathOfAnother() {
		this.redis.set("stays", "1");
		JsonNode report = this.service.post("/pipehset/1", "text/csv", "op,key\nDEL,stays\n").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		assertThat(this.redis.get("stays")).isEqualTo("1");
	}

	@Test
	void aJsonArrayIsAnUploadToo() {
		this.service.post("/pipeset/1", "application/json; charset=utf-8", "[{\"key\":\"a\",\"value\":\"1\"}]")
			.report();
		assertThat(this.redis.keys("*")).containsExactly("a");
	}

	@Test
	void fewerRecordsThanDeclaredAreAMismatchAndRan() {
		Answer answer = this.service.post("/pipeset/5", Service.NDJSON, THREE_SETS);
		JsonNode job = answer.job(422, "count-mismatch", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		assertThat(job.at("/inputComplete").asBoolean()).isTrue();
		assertThat(answer.json().at("/detail").asString()).contains("5").contains("3");
		assertThat(this.redis.dbsize()).isEqualTo(3);
	}

	@Test
	void recordsBeyondTheDeclaredCountAreNotSent() {
		Answer answer = this.service.post("/pipeset/2", Service.NDJSON, THREE_SETS);
		JsonNode job = answer.job(422, "count-mismatch", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(2, 2, 0, 0, 0, 0));
		assertThat(job.at("/inputComplete").asBoolean()).isFalse();
		assertThat(job.at("/nextIndex").asInt(-1)).isEqualTo(2);
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "b");
	}

	@Test
	void anUploadWhereNoneIsDeclaredSendsNothing() {
		JsonNode job = this.service.post("/pipeset/0", Service.NDJSON, THREE_SETS).job(422, "count-mismatch", "failed");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void rejectedRecordsCountAsDeclaredOnes() {
		JsonNode report = this.service.ndjson("/pipeset/2", "{\"key\":\"a\",\"value\":\"1\"}", "oops").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/1000", "/pipehset/1000" })
	void anEmptyUploadIsAMismatchAndNeverGenerated(String path) {
		Counts none = new Counts(0, 0, 0, 0, 0, 0);
		assertThat(Answer.counts(this.service.post(path, Service.NDJSON, "").job(422, "count-mismatch", "failed")))
			.isEqualTo(none);
		assertThat(Answer.counts(this.service.upload(path, Service.NDJSON, InputStream.nullInputStream())
			.job(422, "count-mismatch", "failed"))).isEqualTo(none);
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", THREE_SETS })
	void aChunkedBodyWithoutATypeIsAnUploadAndNeverGenerated(String body) {
		String detail = this.service
			.send(this.service.request("/pipeset/1000")
				.POST(BodyPublishers
					.ofInputStream(() -> new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)))))
			.refusal(415, "unsupported-media-type");
		assertThat(detail).contains("no Content-Type");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void anEmptyFormAsCurlSendsItCountsAsNoBody() throws IOException {
		try (Wire wire = Wire.post(this.service, "/pipeset/10", "Content-Type: " + FORM, "Content-Length: 0")) {
			assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(10, 10, 0, 0, 0, 0));
		}
		assertThat(this.redis.dbsize()).isEqualTo(10);
	}

	@Test
	void aPostWithNeitherLengthNorTypeIsGenerated() throws IOException {
		try (Wire wire = Wire.post(this.service, "/pipeset/10")) {
			assertThat(Answer.counts(wire.answer().report())).isEqualTo(new Counts(10, 10, 0, 0, 0, 0));
		}
		assertThat(this.redis.dbsize()).isEqualTo(10);
	}

	@Test
	void anEmptyChunkedFormIsAnUpload() throws IOException {
		try (Wire wire = Wire.post(this.service, "/pipeset/10", "Content-Type: " + FORM, "Transfer-Encoding: chunked")
			.lastChunk()) {
			wire.answer().refusal(415, "unsupported-media-type");
		}
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/3?batchSize=7", "/pipehset/3?batchSize=7", "/v1/jobs?batchSize=7" })
	void aFormTypedBodyIsAnsweredWithTheRightCurlLine(String path) {
		Answer answer = this.service.post(path, FORM, THREE_SETS);
		assertThat(answer.refusal(415, "unsupported-media-type"))
			.contains("curl --data-binary @records.ndjson -H 'Content-Type: application/x-ndjson' '"
					+ this.service.uri(path.replaceFirst("\\?.*", "")) + "?…'");
		assertThat(answer.header("Accept-Post")).contains("application/x-ndjson").contains("application/json");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/3", "/pipehset/3", "/v1/jobs" })
	void anUntypedBodyIsAnsweredWithTheRightCurlLine(String path) {
		assertThat(this.service.send(this.service.request(path).POST(BodyPublishers.ofString(THREE_SETS)))
			.refusal(415, "unsupported-media-type")).contains("no Content-Type").contains("curl --data-binary @");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "text/html", "application/xml", "multipart/form-data; boundary=x", "nonsense" })
	void aTypeThatIsNotReadIsNamed(String type) {
		assertThat(this.service.post("/v1/jobs", type, THREE_SETS).refusal(415, "unsupported-media-type"))
			.contains("'" + type.replaceFirst(";.*", "") + "'")
			.contains(
					"application/x-ndjson, application/json, text/csv, text/tab-separated-values, text/plain, application/x-redis-resp");
		assertThat(this.redis.dbsize()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "text/csv; charset=iso-8859-77", "text/plain;charset=\"No-Such\"",
			"application/x-ndjson;charset=UTF-16", "application/x-redis-resp; charset=iso-8859-1",
			"application/json; charset=windows-1252", "text/csv; header=absent" })
	void whatATypeSaysBesidesIsReadOrRefused(String type) {
		String parameter = type.substring(type.indexOf(';') + 1).strip();
		assertThat(
				this.service.post("/v1/jobs?op=SET", type, "key,value\na,1\n").refusal(415, "unsupported-media-type"))
			.contains("'" + parameter.replace("\"", "").toLowerCase(Locale.ROOT) + "'");
		this.service.post("/v1/jobs?op=SET", "text/csv; charset=\"UTF-8\"; header=present", "key,value\na,1\n")
			.report();
		this.service.post("/v1/jobs", "text/plain;charset=us-ascii", "SET b 2\n").report();
		this.service.post("/v1/jobs", "application/jsonl; charset=UTF8", "[\"SET\",\"c\",\"3\"]\n").report();
		assertThat(this.redis.keys("*")).containsExactlyInAnyOrder("a", "b", "c");
	}

	@Test
	void aFormTypedBodyIsNotEatenAsSettings() {
		assertThat(this.service.post("/v1/jobs", FORM, "batchSize=0").refusal(415, "unsupported-media-type"))
			.doesNotContain("batchSize");
	}

}
