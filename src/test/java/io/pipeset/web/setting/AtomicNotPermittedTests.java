package io.pipeset.web.setting;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * If Redis refuses transactions, no job runs that asks for them. If Redis begins to
 * refuse them, the job that notices ends, and reports exactly which commands ran one by
 * one.
 */
@ServiceTest
class AtomicNotPermittedTests {

	private static final String USER = "loader";

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start().as(USER);

	private static final TestRedis redis = own.redis();

	private final Service service;

	AtomicNotPermittedTests(Service service) {
		this.service = service;
	}

	/**
	 * Makes the service forget whether transactions are allowed, so that it has to ask.
	 */
	@BeforeEach
	void emptyRedis() {
		own.permitAll();
		own.forbid(CommandType.MULTI);
		this.service.ndjson("/v1/jobs?atomic=batch", "[\"SET\",\"a\",1]");
		own.permit(AclSetuserArgs.Builder.allCommands());
		redis.client().flushall();
	}

	@ParameterizedTest
	@EnumSource(value = CommandType.class, names = { "MULTI", "EXEC" })
	void nothingRunsWithoutTransactions(CommandType command) {
		own.forbid(command);
		nothingRuns();
		this.service.ndjson("/v1/jobs?atomic=none", "[\"SET\",\"a\",1]").report();
		assertThat(redis.client().get("a")).isEqualTo("1");
	}

	/** The commands behind a refused MULTI run one by one, and are answered. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 3 })
	void aMultiThatIsRefusedWhileTheServiceRunsStopsTheJobAndTheOutcomesAreExact(int retries) {
		this.service.ndjson("/v1/jobs?atomic=batch", "[\"SET\",\"string\",\"value\"]").report();
		own.forbid(CommandType.MULTI);
		Answer answer = this.service.ndjson("/v1/jobs?atomic=batch&batchSize=4&results=all&retries=" + retries,
				"[\"SET\",\"a\",1]", "[\"SADD\",\"string\",1]", "[\"SET\",\"a\",2,\"NX\"]", "[\"INCRBY\",\"n\",5]",
				"[\"SET\",\"b\",1]", "[\"SET\",\"c\",1]");
		JsonNode job = answer.job(502, "redis-refuses", "stopped");
		assertThat(Answer.counts(job).applied()).isEqualTo(2);
		assertThat(job.at("/items").valueStream().limit(4).map((item) -> item.at("/status").asString()))
			.containsExactly("applied", "rejected", "noop", "applied");
		assertThat(job.at("/items/1/error/code").asString()).isEqualTo("WRONGTYPE");
		assertThat(job.at("/items/3/reply").asInt()).isEqualTo(5);
		assertThat(answer.json().at("/detail").asString()).contains("Redis refused MULTI", "NOPERM", "atomic=none");
		assertThat(redis.client().keys("*")).containsExactlyInAnyOrder("string", "a", "n");
		nothingRuns();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 3 })
	void anExecThatIsRefusedWhileTheServiceRunsStopsTheJobAndNothingOfItsBatchRuns(int retries) {
		this.service.ndjson("/v1/jobs?atomic=batch", "[\"SET\",\"a\",1]").report();
		redis.client().flushall();
		own.forbid(CommandType.EXEC);
		Answer answer = this.service.ndjson("/v1/jobs?atomic=batch&batchSize=2&retries=" + retries, "[\"SET\",\"a\",1]",
				"[\"LPUSH\",\"l\",1]", "[\"SET\",\"b\",1]");
		JsonNode job = answer.job(503, "redis-refuses", "stopped");
		assertThat(Answer.counts(job).rejected()).isEqualTo(2);
		assertThat(answer.json().at("/detail").asString()).contains("Redis refused EXEC", "NOPERM", "atomic=none");
		nothingRuns();
		// The connection is not left in a transaction, in which commands would only be
		// queued.
		this.service.ndjson("/v1/jobs?atomic=none", "[\"SET\",\"a\",1]").report();
		assertThat(redis.client().keys("*")).containsExactly("a");
	}

	@Test
	void transactionsThatArePermittedAgainRun() {
		this.service.ndjson("/v1/jobs?atomic=batch", "[\"SET\",\"a\",1]").report();
		own.forbid(CommandType.MULTI);
		this.service.ndjson("/v1/jobs?atomic=batch", "[\"SET\",\"a\",1]").job(502, "redis-refuses", "stopped");
		own.permit(AclSetuserArgs.Builder.allCommands());
		this.service.ndjson("/v1/jobs?atomic=batch", "[\"SET\",\"a\",1]").report();
	}

	private void nothingRuns() {
		long keys = redis.client().dbsize();
		Answer answer = this.service.ndjson("/v1/jobs?atomic=batch", "[\"SET\",\"x\",1]", "[\"LPUSH\",\"y\",1]");
		assertThat(Answer.counts(answer.job(503, "redis-refuses", "stopped"))).isEqualTo(new Counts(0, 0, 0, 0, 0, 0));
		assertThat(answer.json().at("/detail").asString()).contains("NOPERM").contains("atomic=none");
		assertThat(redis.client().dbsize()).isEqualTo(keys);
	}

}
