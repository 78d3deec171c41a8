package io.pipeset.web.operator;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/** The service says the same in every language of the machine it runs on. */
class LocaleTests {

	/** Persian has digits of its own, Turkish an i. */
	@ParameterizedTest
	@ValueSource(strings = { "fa", "tr" })
	void theLanguageOfTheMachineChangesNothing(String language) throws Exception {
		TestRedis.shared().client().flushall();
		try (ServiceProcess process = ServiceProcess.start(TestRedis.shared(), "-Duser.language=" + language)) {
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
					service.get("/actuator/prometheus"), service.get("/actuator/health"),
					service.get("/actuator/metrics/pipeset.job"), service.get("/nothing"));
			assertThat(answers).allSatisfy((answer) -> assertThat(answer.text()).matches("\\p{ASCII}*+"));
			assertThat(half.text()).contains("\\\\udc00");
			assertThat(process.output()).allMatch((line) -> line.matches("\\p{ASCII}*+"));
		}
	}

}
