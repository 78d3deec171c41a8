package io.pipeset.engine.lane;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending.Cause;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Many jobs share few connections for a minute. Connections break and jobs are stopped at
 * random. It runs in campaigns only.
 */
@EnabledIfSystemProperty(named = "campaign.seeds", matches = ".+")
class LanesCampaignTests {

	private static TestRedis redis;

	private static FaultProxy proxy;

	private static LaneRig rig;

	@BeforeAll
	static void open() {
		redis = TestRedis.start();
		proxy = FaultProxy.open(redis);
		Map<String, Object> properties = new HashMap<>(redis.properties());
		properties.put("spring.data.redis.port", proxy.port());
		rig = new LaneRig(properties, "pipeset.pipeline.max-connections=3", "pipeset.pipeline.connect-timeout=500ms",
				"pipeset.pipeline.window-commands=40", "pipeset.limits.max-inflight-bytes=1MB");
	}

	@AfterAll
	static void close() {
		rig.close();
		proxy.close();
		redis.close();
	}

	@Test
	void nothingIsLostDoubledOrLeaked() throws Exception {
		long seed = Long.getLong("campaign.seed", System.nanoTime());
		long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
		AtomicInteger jobs = new AtomicInteger();
		AtomicInteger unknown = new AtomicInteger();
		List<String> problems = Collections.synchronizedList(new ArrayList<>());
		List<CompletableFuture<Void>> threads = new ArrayList<>();
		for (int thread = 0; thread < 6; thread++) {
			Random random = new Random(seed + thread);
			threads.add(CompletableFuture.runAsync(() -> {
				while (System.nanoTime() < end && problems.isEmpty()) {
					job(jobs.incrementAndGet(), random, problems, unknown);
				}
			}, rig.threads()));
		}
		Random random = new Random(seed - 1);
		while (System.nanoTime() < end) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5 + random.nextInt(60)));
			if (random.nextInt(3) == 0) {
				proxy.resetAll();
			}
		}
		for (CompletableFuture<Void> thread : threads) {
			thread.get(60, TimeUnit.SECONDS);
		}
		await().atMost(Duration.ofSeconds(20))
			.untilAsserted(() -> assertThat(rig.permits().taken()).as("connections").isZero());
		assertThat(rig.inFlight().now()).isZero();
		assertThat(problems).as("seed %s, %s jobs, %s records unknown", seed, jobs, unknown).isEmpty();
	}

	private void job(int number, Random random, List<String> problems, AtomicInteger unknowns) {
		int concurrency = 1 + random.nextInt(6);
		int timeout = (random.nextInt(3) == 0) ? 300 : 5000;
		LaneContext context = rig.context(LaneRig.settings(1 + random.nextInt(60), 1 + random.nextInt(20), concurrency,
				Duration.ofMillis(timeout), random.nextInt(6)), rig.threads());
		Lanes lanes = new Lanes(context);
		Record record = new Record();
		int records = 1 + random.nextInt(1500);
		int stopAt = (random.nextInt(4) == 0) ? random.nextInt(records) : -1;
		int read = 0;
		int[] sent = new int[5];
		for (int i = 0; i < records && !context.stop().isSet(); i++) {
			int key = random.nextInt(5);
			if (random.nextInt(200) == 0) {
				LaneRig.add(lanes, record, Operation.DEL, "x" + number, "y" + number);
			}
			else {
				LaneRig.add(lanes, record, Operation.RPUSH, "j" + number + ":" + key, String.valueOf(sent[key]++));
			}
			read++;
			if (i == stopAt) {
				rig.threads().execute(() -> context.stop().stop(Cause.CANCELLED, "stress"));
			}
			if (random.nextInt(50) == 0) {
				lanes.lend();
				for (long until = System.nanoTime() + random.nextInt(4_000_000); System.nanoTime() < until;) {
					Thread.onSpinWait();
				}
				lanes.reclaim();
			}
		}
		lanes.drain();
		lanes.close();
		Counts counts = context.account().counts();
		String what = "job " + number + " read " + read + " " + counts + " " + context.stop().ending();
		if (counts.received() != read) {
			problems.add("unbalanced: " + what);
		}
		if (context.stop().ending() != null && context.stop().ending().cause() == Cause.INTERNAL_SERVER_ERROR) {
			problems.add("crash: " + what);
		}
		unknowns.addAndGet((int) counts.unknown());
		long found = 0;
		for (int key = 0; key < 5; key++) {
			List<String> list = redis.client().lrange("j" + number + ":" + key, 0, -1);
			int last = -1;
			for (String value : list) {
				if (Integer.parseInt(value) <= last) {
					problems.add("order or twice: " + list + " of " + what);
					break;
				}
				last = Integer.parseInt(value);
			}
			found += list.size();
		}
		// A DEL is applied as well and leaves no element, but there are few of them.
		if (found > counts.applied() + counts.unknown() || found < counts.applied() - 40) {
			problems.add("found " + found + ": " + what);
		}
	}

}
