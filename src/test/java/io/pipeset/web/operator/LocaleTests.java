package io.pipeset.web.operator;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** The service says the same in every language of the machine it runs on. */
@ProcessTest
class LocaleTests {

	/**
	 * Turkish has an i of its own; Persian, which is for formats here, has digits and
	 * names of months. Actuator has a server of its own, which writes no line of the log
	 * for others either.
	 */
	@Test
	void theLanguageOfTheMachineChangesNothingAndItsLogIsNotForgedByCallsOfActuator() throws Exception {
		TestRedis.shared().client().flushall();
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared(), "-Duser.language=tr",
				"-Duser.extensions=u-nu-arabext", "-Duser.language.format=fa", "--management.server.port=0",
				"--management.server.address=127.0.0.1")) {
			Service management = ForgedLogTests.management(process);
			Service service = process.service();
			JsonNode report = service.post("/pipehset/3?ttl=60").report();
			assertThat(Answer.counts(report)).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
			assertThat(TestRedis.shared().client().ttl("hashA00001")).isBetween(1L, 60L);
			assertThat(service
				.send(service.request("/pipeset/1").header("Origin", "http://a.example").POST(BodyPublishers.noBody()))
				.problem(403, "foreign-request")
				.get("status")
				.isInt()).isTrue();
			service.post("/v1/jobs", "TEXT/PLAIN", "set title 1\nincrby title 1\npersist title").report();
			Answer half = service.ndjson("/v1/jobs", "[\"SET\",\"a\",\"\\udc00\"]", "[\"SET\",\"\u0001\"]");
			List<Answer> answers = List.of(half, service.post("/v1/jobs?batchSize=0"),
					service.post("/piperpop/2?reliable=true&key=title"), service.post("/v1/analyses"),
					service.post("/v1/tunings?records=1000&runs=1&budget=1s&batchSizes=100&flushes=close"),
					management.get("/actuator/prometheus"), management.get("/actuator/health"),
					management.get("/actuator/metrics/pipeset.job"), service.get("/nothing"));
			assertThat(answers).allSatisfy((answer) -> assertThat(answer.text()).matches("\\p{ASCII}*+"));
			assertThat(half.text()).contains("\\\\udc00");
			ForgedLogTests.forgeAtActuator(management);
			process.terminate();
			process.awaitEnd();
			ForgedLogTests.assertOwnLines(process.output());
			assertThat(process.output()).allMatch((line) -> line.matches("\\p{ASCII}*+"));
		}
	}

}
