package io.pipeset.web.siege;

import java.time.Duration;

import io.pipeset.redis.TestRedis;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.ServiceProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.assertj.core.api.Assertions.assertThat;

/** The service with the memory of its image survives any mixture of jobs at once. */
@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
@ProcessTest
class SiegeCampaignTests {

	private static ServiceProcess process;

	private static Siege siege;

	private HealthWatch health;

	@BeforeAll
	static void start() throws Exception {
		process = ServiceProcess.start(TestRedis.shared());
		siege = new Siege(process, TestRedis.shared());
		// The first requests load classes, which must not count as time for health.
		siege.uploads(8, 100, 1000, "");
	}

	@BeforeEach
	void watchHealth() {
		this.health = new HealthWatch(process.service());
	}

	@AfterEach
	void healthAnsweredWithinASecond() throws InterruptedException {
		assertThat(this.health.longest()).isLessThan(Duration.ofSeconds(1));
	}

	@AfterAll
	static void stop() {
		process.close();
		TestRedis.shared().client().flushall();
	}

	@Test
	void manyUploads() {
		siege.uploads(64, 3000, 1000, "");
	}

	@Test
	void manyUploadsOfLargeValues() {
		siege.uploads(48, 600, 10_000, "");
	}

	@Test
	void manyUploadsOfVeryLargeValues() {
		siege.uploads(64, 20, 300_000, "");
	}

	@Test
	void largeRecordsInAllLanesOfAJob() {
		siege.uploads(1, 24, 16_000_000, "&concurrency=16");
	}

	@Test
	void largeRecordsInSeveralJobs() {
		siege.uploads(4, 4, 14_000_000, "");
	}

	@Test
	void manyUploadsWithAllLanes() {
		siege.uploads(12, 20_000, 1000, "&concurrency=16");
	}

	@Test
	void recordsOfVeryManyArguments() {
		siege.manyArguments(4, 3, 1_000_000 - 1);
	}

	@Test
	void recordsOfManyArgumentsInManyJobs() {
		siege.manyArguments(64, 3, 131_000);
	}

	@Test
	void largePops() {
		siege.pops(4, 6000, 10_000, "");
	}

	@Test
	void largePopsWithACount() {
		siege.pops(4, 6000, 10_000, "6000");
	}

	@Test
	void popsThatNobodyReads() throws Exception {
		siege.popsThatNobodyReads(8, 5000, 10_000);
	}

	@RepeatedTest(3)
	void everythingAtOnce() throws Exception {
		siege.everythingAtOnce(300);
	}

	@Test
	void reportsThatListLargeKeys() {
		siege.largeKeysInReports(20, 1000, 16_000);
	}

}
