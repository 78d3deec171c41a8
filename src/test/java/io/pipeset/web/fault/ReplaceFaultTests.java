package io.pipeset.web.fault;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.run.Jobs;
import io.pipeset.service.Answer;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A removal that is cut off has removed no key that stays, goes on if it may, and can be
 * repeated.
 */
@ServiceTest(properties = { "spring.data.redis.timeout=10m", "pipeset.defaults.timeout=10m",
		"pipeset.pipeline.window-commands=1000" })
class ReplaceFaultTests {

	private static final int OLD = 20_000;

	/**
	 * Each key has a reply of its own, and all other replies are fewer. Four lanes have
	 * at most 8,000 commands without a reply, so that keys are left then.
	 */
	private static final int IN_THE_MIDDLE = 5000;

	private static final String LOAD = "/pipeset/100?replace=keyA*";

	@RegisterExtension
	static final OwnRedis own = OwnRedis.behindProxy();

	private static final TestRedis redis = own.redis();

	private static final FaultProxy proxy = own.proxy();

	private final Service service;

	private final Jobs jobs;

	ReplaceFaultTests(Service service, @Autowired Jobs jobs) {
		this.service = service;
		this.jobs = jobs;
	}

	@BeforeEach
	void fillRedis() {
		redis.client().flushall();
		this.service.post("/pipeset/" + OLD).report();
		redis.client().set("other", "v");
	}

	@ParameterizedTest
	@ValueSource(strings = { "&retries=3", "&retries=3&concurrency=4&batchSize=500",
			"&retries=3&atomic=batch&batchSize=500" })
	void aRemovalGoesOnAfterALoss(String settings) throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, IN_THE_MIDDLE, 1);
		CompletableFuture<Answer> load = start(settings);
		place.get(60, TimeUnit.SECONDS).reset();
		JsonNode report = load.get(60, TimeUnit.SECONDS).report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		assertThat(report.at("/replaced/kept").asInt()).isEqualTo(100);
		assertThat(report.at("/replaced/removed").asInt()).isBetween(OLD - 100 - 8000, OLD - 100);
		// The connection of SCAN, which may be the one at that place, needs no fence.
		assertThat(report.at("/fenced").asBoolean(true)).as(report.toString()).isTrue();
		assertExact();
	}

	@Test
	void aLossWithoutRetriesEndsTheJobAndARepeatEndsTheRemoval() throws Exception {
		Answer answer = loadAndLose();
		// The connection at that place may be that of SCAN, whose loss ends no job.
		for (int i = 0; i < 10 && answer.status() == 200; i++) {
			fillRedis();
			answer = loadAndLose();
		}
		JsonNode job = answer.job(502, "redis-lost", "failed");
		assertThat(answer.json().at("/detail").asString()).contains("All records have run", "replace=keyA*",
				"send the request again");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		assertThat(job.at("/replaced/removed").asInt()).isPositive();
		assertThat(redis.client().dbsize()).isGreaterThan(101);
		this.service.post(LOAD).report();
		assertExact();
	}

	private Answer loadAndLose() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, IN_THE_MIDDLE, 1);
		CompletableFuture<Answer> load = start("");
		place.get(60, TimeUnit.SECONDS).reset();
		return load.get(60, TimeUnit.SECONDS);
	}

	@Test
	void aRemovalCanBeCancelledAndShowsHowFarItIs() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, IN_THE_MIDDLE, 0);
		CompletableFuture<Answer> load = start("");
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		String id = this.service.awaitJob("running");
		await().until(() -> this.service.get("/v1/jobs/" + id).json().at("/replaced/removed").asInt() > 0);
		assertThat(this.service.get("/v1/jobs?state=running").json().at("/jobs/0/progress").toString())
			.doesNotContain("share")
			.matches("\\{\"read\":\\d{4,},\"done\":\\d{4,},.*");
		assertThat(this.service.delete("/v1/jobs/" + id).status()).isEqualTo(202);
		link.goOn();
		JsonNode job = load.get(60, TimeUnit.SECONDS).job(409, "cancelled", "cancelled");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		assertThat(redis.client().exists("other", "keyA00000", "keyA00099")).isEqualTo(3);
	}

	@Test
	void aShutdownInTheMiddleDoesNotCompleteTheJob() throws Exception {
		CompletableFuture<ProxyLink> place = proxy.stopAt(Way.REPLIES, IN_THE_MIDDLE, 0);
		CompletableFuture<Answer> load = start("");
		ProxyLink link = place.get(60, TimeUnit.SECONDS);
		this.jobs.stopAll();
		link.goOn();
		JsonNode job = load.get(60, TimeUnit.SECONDS).job(503, "shutting-down", "stopped");
		assertThat(Answer.counts(job)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
		this.service.post(LOAD).report();
		assertExact();
	}

	@Test
	void aUserWhoMayNotUnlinkEndsTheRemoval() {
		redis.client().aclSetuser("default", AclSetuserArgs.Builder.removeCommand(CommandType.UNLINK));
		try {
			Answer answer = this.service.post(LOAD);
			JsonNode job = answer.job(502, "redis-refuses", "stopped");
			assertThat(answer.json().at("/detail").asString()).contains("NOPERM", "UNLINK", "send the request again");
			assertThat(Answer.counts(job)).isEqualTo(new Counts(100, 100, 0, 0, 0, 0));
			assertThat(job.at("/replaced/removed").asInt(-1)).isZero();
			assertThat(redis.client().dbsize()).isEqualTo(OLD + 1);
		}
		finally {
			redis.client().aclSetuser("default", AclSetuserArgs.Builder.allCommands());
		}
	}

	@Test
	void aDryRunWithoutRedisSaysThatItCouldNotLook() {
		redis.kill();
		try {
			JsonNode report = this.service.post(LOAD + "&dryRun=true").report();
			assertThat(report.at("/warnings/0/code").asString()).isEqualTo("NOT_REPLACED");
			assertThat(report.at("/warnings/0/detail").asString()).contains("could not all be found");
			assertThat(Answer.counts(report)).isEqualTo(new Counts(100, 0, 0, 0, 0, 100));
		}
		finally {
			redis.restart();
		}
	}

	private CompletableFuture<Answer> start(String settings) {
		return this.service.sendAsync(this.service.request(LOAD + settings).POST(BodyPublishers.noBody()));
	}

	private static void assertExact() {
		assertThat(redis.client().dbsize()).isEqualTo(101);
		assertThat(redis.client().keys("keyA000*")).hasSize(100);
	}

}
