package io.pipeset.web.record;

import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.OwnRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Managed servers forbid commands: what needs one says so by name, and all else works.
 * The rows are those of docs/servers.md, and the answers are the same whether an ACL
 * forbids a command or its name is gone.
 */
class ForbiddenCommandsTests {

	/** What both servers answer. */
	abstract static class Answers {

		private final Service service;

		private final OwnRedis own;

		Answers(Service service, OwnRedis own) {
			this.service = service;
			this.own = own;
		}

		@BeforeEach
		void emptyRedis() {
			this.own.redis().client().flushall();
		}

		@Test
		void loadsRunAndTheServiceIsReady() {
			JsonNode report = this.service
				.post("/v1/jobs?retries=2&maxLatency=50ms&ttl=60", "text/plain",
						"SET a 1\nLPUSH l x y\nINCR n\nSET b 2\nSET c 3\nHDEL h f\n")
				.report();
			assertThat(Answer.counts(report).applied()).isEqualTo(6);
			assertThat(report.has("warnings")).isFalse();
			await().until(() -> this.service.get("/actuator/health/readiness").status() == 200);
		}

		@ParameterizedTest
		@CsvSource(delimiter = '|', textBlock = """
				HSET h f v | ttl=60      | HSET with an expiry runs as a script. The Redis user needs +evalsha
				LSET l 0 v | label=x    | Redis refuses COMMAND, so that it describes no others: allow +command
				""")
		void aRecordThatNeedsOneIsRejectedByName(String record, String query, String message) {
			JsonNode report = this.service.post("/v1/jobs?" + query, "text/plain", record).report();
			assertThat(report.at("/items/0/error/message").asString()).contains(message);
		}

		@ParameterizedTest
		@CsvSource(delimiter = '|', textBlock = """
				/v1/jobs?atomic=batch                 | Let the service's user run MULTI and EXEC
				/v1/jobs?replicas=1                   | Let the service's user run WAIT
				/v1/jobs?from=scan&match=*&op=PERSIST | SCAN failed
				/v1/analyses                          | Allow it by ACL SETUSER <user> +scan
				""")
		void aCallThatNeedsOneIsRefusedByName(String call, String message) {
			Answer answer = (call.endsWith("batch") || call.endsWith("=1"))
					? this.service.post(call, "text/plain", "SET a 1") : this.service.post(call);
			assertThat(answer.status()).isEqualTo(503);
			assertThat(answer.text()).contains("redis-refuses").contains(message);
		}

		@Test
		void anEstimateThatNeedsOneIsLeftOut() {
			assertThat(this.service.post("/v1/jobs?dryRun=true&estimate=true", "text/plain", "SET a 1")
				.report()
				.at("/warnings/0/code")
				.asString()).isEqualTo("NOT_ESTIMATED");
		}

	}

	@Nested
	@ServiceTest
	class ByAcl extends Answers {

		@RegisterExtension
		static final OwnRedis own = OwnRedis.start().as("loader");

		static {
			for (CommandType command : new CommandType[] { CommandType.INFO, CommandType.COMMAND, CommandType.CLIENT,
					CommandType.EVALSHA, CommandType.SCRIPT, CommandType.MULTI, CommandType.WAIT, CommandType.SCAN,
					CommandType.ACL, CommandType.CONFIG, CommandType.MEMORY }) {
				own.forbid(command);
			}
		}

		ByAcl(Service service) {
			super(service, own);
		}

	}

	/** The server of tests has to answer INFO. */
	@Nested
	@ServiceTest
	class ByName extends Answers {

		@RegisterExtension
		static final OwnRedis own = OwnRedis.start("rename-command COMMAND \"\"", "rename-command CLIENT \"\"",
				"rename-command EVALSHA \"\"", "rename-command SCRIPT \"\"", "rename-command MULTI \"\"",
				"rename-command WAIT \"\"", "rename-command SCAN \"\"", "rename-command ACL \"\"",
				"rename-command CONFIG \"\"", "rename-command MEMORY \"\"");

		ByName(Service service) {
			super(service, own);
		}

	}

}
