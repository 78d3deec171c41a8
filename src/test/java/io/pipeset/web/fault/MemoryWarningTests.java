package io.pipeset.web.fault;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.OwnRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A report says where Redis evicted keys while its job ran, and where the job has nearly
 * filled it.
 */
@ServiceTest
class MemoryWarningTests {

	/** A limit that nothing here comes near. */
	private static final String ENOUGH = "1073741824";

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start("maxmemory " + ENOUGH).as("loader");

	private final RedisCommands<String, String> redis = own.redis().client();

	private final Service service;

	MemoryWarningTests(Service service) {
		this.service = service;
	}

	/** A look of a second ago would do for the next job, so there is one from now. */
	@BeforeEach
	void emptyRedis() {
		own.permitAll();
		this.service.post("/pipeset/10001").report();
		this.redis.flushall();
	}

	@AfterEach
	void liftLimit() {
		this.redis.configSet("maxmemory", ENOUGH);
		this.redis.configSet("maxmemory-policy", "noeviction");
	}

	/** Leaves Redis so much more memory than it takes. */
	private void limit(String policy, long bytes) {
		this.redis.configSet("maxmemory-policy", policy);
		this.redis.configSet("maxmemory", Long.toString(number("memory", "used_memory:") + bytes));
	}

	private long number(String section, String field) {
		return this.redis.info(section)
			.lines()
			.filter((line) -> line.startsWith(field))
			.mapToLong((line) -> Long.parseLong(line.substring(field.length()).strip()))
			.findFirst()
			.orElseThrow();
	}

	private static List<String> codes(JsonNode job) {
		return job.path("warnings").valueStream().map((warning) -> warning.get("code").asString()).toList();
	}

	@Test
	void keysThatWereEvictedAreCountedFromTheFirstRecordOn() {
		limit("allkeys-lru", 3 << 20);
		for (int round = 0; round < 2; round++) {
			long before = number("stats", "evicted_keys:");
			JsonNode report = this.service.post("/pipeset/100000").report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(100_000, 100_000, 0, 0, 0, 0));
			assertThat(report.get("errors").asBoolean()).isFalse();
			JsonNode warning = report.at("/warnings/0");
			assertThat(warning.get("code").asString()).isEqualTo("EVICTED");
			assertCount(warning, before);
			assertThat(warning.get("detail").asString()).contains("allkeys-lru", "maxmemory", "noeviction");
			assertThat(warning.has("node")).isFalse();
		}
	}

	@Test
	void anUploadOfUnknownLengthIsWarnedOfAsWell() {
		limit("volatile-ttl", 2 << 20);
		this.service.post("/pipeset/50000?ttl=3600").report();
		long before = number("stats", "evicted_keys:");
		JsonNode report = this.service.send(this.service.uploading("/v1/jobs?ttl=3600", Service.NDJSON,
				Lines.of(20_000, (i) -> "[\"SET\",\"other" + i + "\",\"value\"]")))
			.report();
		assertCount(report.at("/warnings/0"), before);
	}

	/** The commands of the test itself make Redis evict some hundred keys as well. */
	private void assertCount(JsonNode warning, long before) {
		assertThat(warning.get("count").asLong()).isPositive()
			.isCloseTo(number("stats", "evicted_keys:") - before, Percentage.withPercentage(5));
	}

	@Test
	void evictionsBeforeTheJobAreNotCounted() {
		limit("allkeys-random", 2 << 20);
		this.service.post("/pipeset/50000").report();
		this.redis.configSet("maxmemory", ENOUGH);
		// The change itself may have evicted some, in the second before this job.
		this.service.post("/pipeset/20000").report();
		assertThat(this.service.post("/pipeset/20000").report().has("warnings")).isFalse();
	}

	@Test
	void aServerThatIsNearlyFullIsWarnedOf() {
		this.redis.setrange("large", 99_999_999, "x");
		limit("noeviction", 9 << 20);
		JsonNode report = this.service.post("/pipeset/20000").report();
		assertThat(codes(report)).containsExactly("MAXMEMORY_NEAR");
		assertThat(report.at("/warnings/0/detail").asString()).contains("noeviction", "refuses to write");
		assertThat(report.at("/warnings/0").has("count")).isFalse();
		report = this.service.post("/v1/jobs?from=scan&match=keyA*&op=UNLINK").report();
		assertThat(report.has("warnings")).as("warnings of a job that only frees").isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/1000", "/pipeset/20000?dryRun=true" })
	void aJobThatIsSmallOrWritesNothingDoesNotAsk(String path) {
		limit("allkeys-lru", 1 << 20);
		long begun = System.nanoTime();
		long asked = asked();
		for (int i = 0; i < 30; i++) {
			assertThat(this.service.post(path).report().has("warnings")).isFalse();
		}
		long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
		// Three sections a second, and the first look of this test.
		assertThat(asked() - asked).isLessThanOrEqualTo(3 * (seconds + 1) + 1);
	}

	private long asked() {
		return this.redis.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_info:calls="))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(','))))
			.sum();
	}

	@Test
	void aUserWhoMayNotAskGetsNoWarnings() {
		limit("allkeys-lru", 2 << 20);
		own.forbid(CommandType.INFO);
		JsonNode report = this.service.post("/pipeset/50000").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(50_000, 50_000, 0, 0, 0, 0));
		assertThat(report.has("warnings")).isFalse();
	}

	@Test
	void aJobThatEndsEarlyIsWarnedAsWell() {
		this.redis.setrange("large", 99_999_999, "x");
		limit("noeviction", 2 << 20);
		JsonNode job = this.service.post("/pipeset/100000?batchSize=1000").job(502, "redis-refuses", "stopped");
		assertThat(codes(job)).containsExactly("MAXMEMORY_NEAR");
	}

}
