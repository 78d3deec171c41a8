package io.pipeset.web.setting;

import java.util.regex.Pattern;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.script.ScriptProperties;
import io.pipeset.redis.TestRedis;
import io.pipeset.request.JobDefaults;
import io.pipeset.request.JobLimits;
import io.pipeset.request.SecurityProperties;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/** Defaults that an operator sets are in effect, and invalid ones fail the start. */
@ServiceTest(properties = { "pipeset.defaults.batch-size=7", "pipeset.defaults.flush=buffered:3",
		"pipeset.defaults.concurrency=2", "pipeset.defaults.timeout=61500ms", "pipeset.defaults.max-errors=1",
		"pipeset.defaults.results=all", "pipeset.defaults.op=lpush", "pipeset.defaults.ttl=600",
		"pipeset.defaults.encoding=base64", "pipeset.defaults.rate-limit=100000",
		"pipeset.pipeline.max-connections=2" })
class DefaultsTests {

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	DefaultsTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void emptyRedis() {
		this.redis.flushall();
	}

	@Test
	void theyAreInEffectWhereARequestNamesNothing() {
		JsonNode report = this.service.ndjson("/v1/jobs", "{\"key\":\"bA==\",\"args\":[\"YQ==\"]}", "bad").report();
		JsonNode settings = report.get("settings");
		assertThat(settings.at("/batchSize").asInt()).isEqualTo(7);
		assertThat(settings.at("/flush").asString()).isEqualTo("buffered:3");
		assertThat(settings.at("/concurrency").asInt()).isEqualTo(2);
		assertThat(settings.at("/timeout").asString()).isEqualTo("61500ms");
		assertThat(settings.at("/maxErrors").asInt()).isOne();
		assertThat(settings.at("/results").asString()).isEqualTo("all");
		assertThat(settings.at("/op").asString()).isEqualTo("LPUSH");
		assertThat(settings.at("/ttl").asInt()).isEqualTo(600);
		assertThat(settings.at("/encoding").asString()).isEqualTo("base64");
		assertThat(settings.at("/rateLimit").asInt()).isEqualTo(100_000);
		assertThat(report.get("items")).hasSize(2);
		assertThat(this.redis.lrange("l", 0, -1)).containsExactly("a");
	}

	@Test
	void theyStopAJobAsIfARequestHadNamedThem() {
		this.service.ndjson("/v1/jobs", "bad", "bad", "{\"key\":\"bA==\",\"args\":[\"YQ==\"]}")
			.job(422, "stopped", "stopped");
		assertThat(this.redis.dbsize()).isZero();
	}

	@Test
	void aRequestWinsOverThem() {
		JsonNode settings = this.service
			.ndjson("/v1/jobs?batchSize=9&flush=close&concurrency=1&maxErrors=5&results=none&op=SET"
					+ "&encoding=utf8&ttl=60&rateLimit=7&dryRun=true", "bad", "bad", "{\"key\":\"k\",\"value\":\"v\"}")
			.report()
			.get("settings");
		assertThat(settings.at("/batchSize").asInt()).isEqualTo(9);
		assertThat(settings.at("/flush").asString()).isEqualTo("close");
		assertThat(settings.at("/concurrency").asInt()).isOne();
		assertThat(settings.at("/maxErrors").asInt()).isEqualTo(5);
		assertThat(settings.at("/results").asString()).isEqualTo("none");
		assertThat(settings.at("/op").asString()).isEqualTo("SET");
		assertThat(settings.has("encoding")).isFalse();
		assertThat(settings.at("/ttl").asInt()).isEqualTo(60);
		assertThat(settings.at("/rateLimit").asInt()).isEqualTo(7);
		assertThat(settings.at("/dryRun").asBoolean()).isTrue();
	}

	@Test
	void aShortcutsOwnOperationWinsOverThem() {
		assertThat(this.service.post("/pipeset/3").report().at("/settings/op").asString()).isEqualTo("SET");
		assertThat(this.redis.dbsize()).isEqualTo(3);
		assertThat(this.redis.ttl("keyA00002")).isBetween(1L, 600L);
	}

	/**
	 * The operator's default operation is for records that name none, and forbids no
	 * other.
	 */
	@Test
	void aDefaultOperationIsForRecordsThatNameNone() {
		this.service.ndjson("/v1/jobs", "{\"key\":\"bA==\",\"args\":[\"YQ==\"]}", "[\"SET\",\"aw==\",\"dg==\"]")
			.report();
		this.service.post("/v1/jobs", "text/csv", "op,key,arg1\n,bA==,Yg==\nDEL,aw==,\n").report();
		assertThat(this.redis.lrange("l", 0, -1)).containsExactly("b", "a");
		assertThat(this.redis.keys("*")).containsExactly("l");
	}

	@Test
	void transactionsByDefaultNeedNoOtherProperty() {
		new ApplicationContextRunner().withUserConfiguration(Properties.class)
			.withPropertyValues("pipeset.defaults.atomic=batch")
			.run((context) -> assertThat(context.getBean(JobDefaults.class).toSettings().batching().batchSize())
				.isEqualTo(10_000));
		new ApplicationContextRunner().withUserConfiguration(Properties.class)
			.run((context) -> assertThat(context.getBean(JobDefaults.class).toSettings().batching().batchSize())
				.isEqualTo(100_000));
		new ApplicationContextRunner().withUserConfiguration(Properties.class)
			.withPropertyValues("pipeset.defaults.atomic=batch", "pipeset.defaults.batch-size=10001")
			.run((context) -> assertThat(context.getStartupFailure()).isNotNull()
				.hasStackTraceContaining(
						"pipeset.defaults.batch-size must be 1 to 10000 with atomic=batch, not '10001'"));
	}

	@ParameterizedTest
	@CsvSource({ "pipeset.defaults.batch-size, 0", "pipeset.defaults.batch-size, 100001",
			"pipeset.defaults.flush, sometimes", "pipeset.defaults.concurrency, 17", "pipeset.defaults.timeout, PT0S",
			"pipeset.defaults.timeout, PT2H", "pipeset.defaults.ttl, 0", "pipeset.defaults.ttl, 9000000000000001",
			"pipeset.defaults.rate-limit, 0", "pipeset.defaults.max-errors, -1", "pipeset.limits.max-generated, -1",
			"pipeset.scripts.max-bytes, 0", "pipeset.scripts.max-count, 0", "pipeset.limits.max-popped, -1",
			"pipeset.limits.max-popped-bytes, -1", "pipeset.limits.max-items, -1", "pipeset.limits.max-body-bytes, -1",
			"pipeset.limits.max-record-bytes, 1", "pipeset.limits.max-arguments, 0",
			"pipeset.security.allowed-hosts, http://localhost", "pipeset.pipeline.max-connections, 0",
			"pipeset.pipeline.window-commands, 0", "pipeset.pipeline.window-bytes, 1",
			"pipeset.pipeline.connect-timeout, 0" })
	void aPropertyOutOfItsBoundsFailsTheStartByName(String property, String value) {
		new ApplicationContextRunner().withUserConfiguration(Properties.class)
			.withPropertyValues(property + "=" + value)
			.run((context) -> assertThat(context.getStartupFailure()).isNotNull()
				.hasStackTraceContaining(property)
				.rootCause()
				.message()
				.containsPattern("not '?" + Pattern.quote(value)));
	}

	@ParameterizedTest
	@CsvSource({ "pipeset.defaults.results, some", "pipeset.defaults.op, FLUSHALL", "pipeset.defaults.timeout, soon",
			"pipeset.defaults.batch-size, many", "pipeset.defaults.encoding, ascii",
			"pipeset.defaults.dry-run, perhaps" })
	void aPropertyThatCannotBeReadFailsTheStartByName(String property, String value) {
		new ApplicationContextRunner().withUserConfiguration(Properties.class)
			.withPropertyValues(property + "=" + value)
			.run((context) -> assertThat(context.getStartupFailure()).isNotNull()
				.hasStackTraceContaining(property)
				.hasStackTraceContaining(value));
	}

	@EnableConfigurationProperties({ JobDefaults.class, JobLimits.class, ScriptProperties.class,
			PipelineProperties.class, SecurityProperties.class })
	static class Properties {

	}

}
