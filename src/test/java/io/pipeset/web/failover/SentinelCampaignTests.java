package io.pipeset.web.failover;

import java.util.BitSet;

import io.pipeset.redis.Sentinels;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Another server becomes master under jobs of records that must not run twice. Each
 * outcome is held against the data of the new master. Run by
 * {@code mvn -Pcampaign verify}.
 */
@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
@ServiceTest(properties = { "pipeset.limits.max-items=1000000", "pipeset.limits.max-items-bytes=48MB" })
class SentinelCampaignTests {

	/** No extension, which would start them where these tests do not run. */
	static final Sentinels sentinels = Sentinels.start();

	private static final int RUNS = 5;

	private static final String SETTINGS = "retries=10&timeout=60s&batchSize=1000&rateLimit=10000";

	private static final String WITH_REPLICAS = SETTINGS + "&replicas=1&replicasTimeout=50ms";

	private final PushedLists pushed;

	SentinelCampaignTests(Service service) {
		this.pushed = new PushedLists(service, 20_000, 400);
	}

	@DynamicPropertySource
	static void sentinels(DynamicPropertyRegistry registry) {
		sentinels.properties().forEach((name, value) -> registry.add(name, () -> value));
	}

	@AfterAll
	static void end() throws Exception {
		sentinels.end();
	}

	@BeforeEach
	void begin() {
		sentinels.awaitReady();
		sentinels.master().client().flushall();
	}

	@RepeatedTest(RUNS)
	void whatIsCalledAppliedWithReplicasIsThereAfterAFailoverOfALivingMaster() throws Exception {
		JsonNode job = pushWhile(WITH_REPLICAS, sentinels::failOver);
		assertThat(job.at("/appliedByFormerMasters").asInt(-1)).isZero();
		assertThat(missing(job).cardinality()).as("called applied and not there").isZero();
	}

	@RepeatedTest(RUNS)
	void theReportCountsWhatAFailoverOfALivingMasterMayHaveCost() throws Exception {
		JsonNode job = pushWhile(SETTINGS, sentinels::failOver);
		assertThat(missing(job).cardinality()).isLessThanOrEqualTo(job.at("/appliedByFormerMasters").asInt(-1));
	}

	@RepeatedTest(RUNS)
	void whatIsCalledAppliedWithReplicasIsThereAfterTheMasterWasKilled() throws Exception {
		TestRedis master = sentinels.master();
		try {
			JsonNode job = pushWhile(WITH_REPLICAS, () -> sentinels.kill(master));
			assertThat(job.at("/appliedByFormerMasters").asInt(-1)).isZero();
			assertThat(missing(job).cardinality()).as("called applied and not there").isZero();
		}
		finally {
			sentinels.restart(master);
		}
	}

	private JsonNode pushWhile(String settings, Runnable change) throws Exception {
		TestRedis master = sentinels.master();
		JsonNode job = this.pushed.pushWhile(0, settings, () -> master.client().dbsize() > 1000, change);
		assertThat(sentinels.master()).isNotSameAs(master);
		assertThat(job.at("/failovers").asInt()).isOne();
		return job;
	}

	private static BitSet missing(JsonNode job) {
		assertThat(Answer.counts(job).applied()).isGreaterThan(1000);
		TestRedis master = sentinels.master();
		return PushedLists.missing(job, PushedLists.numbers((key) -> master.client()));
	}

}
