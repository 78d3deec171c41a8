package io.pipeset.web.cluster;

import io.lettuce.core.ScriptOutputType;
import io.pipeset.redis.SecureCluster;
import io.pipeset.redis.TestCluster;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The service speaks TLS with a cluster whose nodes announce names, as a user that has
 * the rights which the documentation names, and no others.
 */
@ServiceTest(properties = { "pipeset.security.scripts=true", "management.endpoint.health.show-details=always" })
class ClusterAccessTests {

	private static final SecureCluster secure = SecureCluster.start();

	private static final String[] OPERATIONS = { "+set", "+rpush", "+multi", "+exec", "+evalsha", "+script|load" };

	private static final String[] RIGHTS = { "+asking", "+cluster|nodes", "+cluster|info", "+info", "+client" };

	private final TestCluster cluster = secure.nodes();

	private final TestRedis from = this.cluster.master(0);

	private final TestRedis to = this.cluster.master(1);

	private final String tag = this.cluster.tag(0, 0);

	private final int slot = TestCluster.slot(this.tag);

	private final String list = "{" + this.tag + "}list";

	private final String push = "[\"RPUSH\",\"" + this.list + "\",\"1\"]";

	private final Service service;

	ClusterAccessTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		permit();
		// The service starts without it, and says what it lacks.
		secure.permit("-cluster|nodes");
		secure.properties().forEach((name, value) -> registry.add(name, () -> value));
	}

	private static void permit() {
		secure.permit("~*", "-@all");
		secure.permit(OPERATIONS);
		secure.permit(RIGHTS);
	}

	/** The first of the tests starts with a service that knows no master. */
	@BeforeEach
	void know() {
		Answer answer = this.service.post("/pipeset/1");
		if (answer.status() != 200) {
			assertThat(answer.problem(503, "redis-refuses").at("/detail").asString()).contains("NOPERM",
					"'cluster|nodes'");
			assertThat(this.service.get("/actuator/health").json().at("/components/redis/details/error").asString())
				.contains("NOPERM", "'cluster|nodes'");
			permit();
			await().until(() -> this.service.post("/pipeset/1").status() == 200);
		}
	}

	@AfterEach
	void reset() {
		permit();
		this.cluster.reset();
	}

	@AfterAll
	static void end() {
		secure.close();
	}

	@Test
	void aJobRunsAtAllMastersAndHealthNamesThem() {
		JsonNode report = this.service.post("/pipeset/10000").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(10_000, 10_000, 0, 0, 0, 0));
		assertThat(this.cluster.nodes()).allMatch((node) -> node.client().dbsize() > 3000);
		JsonNode masters = this.service.get("/actuator/health").json().at("/components/redis/details/masters");
		assertThat(masters.propertyNames()).containsExactlyInAnyOrder("localhost:" + SecureCluster.tlsPort(this.from),
				"localhost:" + SecureCluster.tlsPort(this.to));
	}

	@ParameterizedTest
	@ValueSource(strings = { "ip", "hostname", "unknown-endpoint" })
	void redirectionsAreFollowedHoweverTheyNameANode(String endpoint) {
		this.cluster.nodes().forEach((node) -> node.client().configSet("cluster-preferred-endpoint-type", endpoint));
		this.cluster.begin(this.slot, this.from, this.to);
		this.service.ndjson("/v1/jobs", this.push, this.push).report();
		this.service.ndjson("/v1/jobs?atomic=batch", this.push, this.push).report();
		assertThat(this.to.client().keys("*list")).as("while the slot moves").containsExactly(this.list);
		this.cluster.end(this.slot, this.from, this.to);
		this.service.ndjson("/v1/jobs", this.push).report();
		assertThat(this.to.client().llen(this.list)).isEqualTo(5);
	}

	@Test
	void scriptsRunAtAllMasters() {
		String script = "return redis.call('RPUSH', KEYS[1], ARGV[1])";
		String sha = this.service.post("/v1/scripts", "text/plain", script).json().at("/sha").asString();
		String other = "{" + this.cluster.tag(1, 0) + "}list";
		JsonNode report = this.service
			.ndjson("/v1/jobs", "[\"EVALSHA\",\"" + sha + "\",\"1\",\"" + this.list + "\",\"1\"]",
					"[\"EVALSHA\",\"" + sha + "\",\"1\",\"" + other + "\",\"1\"]")
			.report();
		assertThat(Answer.counts(report).applied()).isEqualTo(2);
		assertThat(this.to.client().<Long>eval("return redis.call('LLEN', KEYS[1])", ScriptOutputType.INTEGER, other))
			.isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "none", "batch" })
	void aJobThatMayNotSendAskingEndsAndNamesTheRight(String atomic) {
		secure.permit("-asking");
		this.cluster.begin(this.slot, this.from, this.to);
		Answer answer = this.service.ndjson("/v1/jobs?atomic=" + atomic, this.push);
		JsonNode job = answer.job(503, "redis-refuses", "stopped");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		assertThat(answer.json().at("/detail").asString()).contains("NOPERM").contains("+asking");
	}

}
