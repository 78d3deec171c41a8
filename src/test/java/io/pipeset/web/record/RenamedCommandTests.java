package io.pipeset.web.record;

import io.pipeset.redis.OwnRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** A command that Redis does not know by its name is rejected in company as well. */
@ServiceTest
class RenamedCommandTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start("rename-command SET \"\"", "rename-command RPUSH RENAMED",
			"rename-command EVALSHA \"\"");

	private final Service service;

	RenamedCommandTests(Service service) {
		this.service = service;
	}

	@ParameterizedTest
	@CsvSource({ "SET, auto", "SET, off", "RPUSH, auto", "RPUSH, off" })
	void isRejectedWithItsNeighboursAsByItself(String command, String coalesce) {
		JsonNode report = this.service
			.upload("/v1/jobs?coalesce=" + coalesce, Service.NDJSON,
					Lines.of(3, (i) -> "[\"%s\",\"k\",\"%d\"]".formatted(command, i)))
			.report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 0, 0, 3, 0, 0));
		assertThat(report.at("/items/0/error/message").asString()).contains("unknown command '" + command + "'");
		assertThat(own.redis().client().dbsize()).isZero();
	}

	@Test
	void anErrorThatIsNotUtf8IsShownAsAText() {
		JsonNode report = this.service
			.ndjson("/v1/jobs", "{\"op\":\"SET\",\"key\":\"/w==\",\"value\":\"YQ==\",\"encoding\":\"base64\"}")
			.report();
		assertThat(report.at("/items/0/error/message").asString())
			.startsWith("ERR unknown command 'SET', with args beginning with: '\ufffd' 'a'");
	}

	@Test
	void anExpiryThatNeedsAScriptSaysSo() {
		JsonNode report = this.service
			.ndjson("/v1/jobs", "{\"op\":\"HSET\",\"key\":\"h\",\"fields\":{\"a\":1},\"ttl\":60}")
			.report();
		assertThat(report.at("/items/0/error/message").asString()).contains("HSET with an expiry runs as a script",
				"send HSET without an expiry", "unknown command 'EVALSHA'");
	}

}
