package io.pipeset.web.access;

import java.util.function.Supplier;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.pipeset.redis.OwnRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * If Redis refuses the login, the answer is {@code redis-refuses} and names the property
 * that is wrong.
 */
@ServiceTest(properties = { "pipeset.security.scripts=true", "management.endpoint.health.show-details=always" })
class RefusedLoginTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start().as("loader");

	private final Service service;

	RefusedLoginTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void letIn() {
		own.permitAll();
		assertThat(this.service.post("/pipeset/1").status()).isEqualTo(200);
	}

	private static void refuse() {
		own.permit(AclSetuserArgs.Builder.on());
		own.redis().client().aclSetuser("loader", AclSetuserArgs.Builder.off());
		own.redis().client().clientKill(KillArgs.Builder.typeNormal().skipme());
	}

	/** The first calls may use a pooled connection whose end is not noticed yet. */
	private static Answer refused(Supplier<Answer> call) {
		return await().until(call::get, (answer) -> answer.text().contains("WRONGPASS"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pipeset/10", "/pipeset/10?retries=1&timeout=100ms", "/pipeset/10?atomic=batch",
			"/pipeset/10?replicas=1", "/piperpop/10?reliable=true", "/v1/jobs?from=scan&match=*&op=UNLINK" })
	void aJobNamesTheProperties(String path) {
		refuse();
		Answer answer = refused(() -> this.service.post(path));
		JsonNode job = answer.job(503, "redis-refuses", "stopped");
		assertThat(Answer.counts(job).applied()).isZero();
		assertAdvice(answer.json().at("/detail").asString());
	}

	@ParameterizedTest
	@ValueSource(strings = { "/v1/analyses", "/v1/tunings", "/v1/jobs/01a1fe42-e2a9-737d-8382-d7f64ec595eb/ack" })
	void otherCallsNameTheProperties(String path) {
		refuse();
		JsonNode problem = refused(() -> this.service.post(path)).problem(503, "redis-refuses");
		assertAdvice(problem.at("/detail").asString());
	}

	@Test
	void loadingAScriptNamesTheProperties() {
		refuse();
		assertAdvice(refused(() -> this.service.post("/v1/scripts", "text/plain", "return 1")).refusal(503,
				"redis-refuses"));
	}

	@Test
	void healthNamesTheProperties() {
		refuse();
		Answer answer = refused(() -> this.service.get("/actuator/health"));
		assertThat(answer.status()).isEqualTo(503);
		assertAdvice(answer.json().at("/components/redis/details/error").asString());
	}

	@Test
	void aWrongPasswordIsRefusedAsADisabledUserIs() {
		own.redis().client().aclSetuser("loader", AclSetuserArgs.Builder.resetpass().addPassword("another"));
		own.redis().client().clientKill(KillArgs.Builder.typeNormal().skipme());
		Answer answer = refused(() -> this.service.post("/pipeset/10"));
		assertThat(Answer.counts(answer.job(503, "redis-refuses", "stopped")))
			.isEqualTo(new Counts(10, 0, 0, 0, 0, 10));
		assertAdvice(answer.json().at("/detail").asString());
	}

	private static void assertAdvice(String detail) {
		assertThat(detail).contains("WRONGPASS", "spring.data.redis.password", "spring.data.redis.username")
			.doesNotContain("..", "Check that it runs");
	}

}
