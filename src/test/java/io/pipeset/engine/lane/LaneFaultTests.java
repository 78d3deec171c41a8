package io.pipeset.engine.lane;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.pipeset.QuietLog;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.report.JobMeters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Lanes keep the order of records, their outcomes and the resources right when several
 * faults coincide.
 */
class LaneFaultTests {

	private static final Duration LONG = Duration.ofMinutes(10);

	@RegisterExtension
	static final ProxiedLanes proxied = new ProxiedLanes("pipeset.pipeline.window-commands=2");

	private static final TestRedis redis = proxied.redis();

	private static final FaultProxy proxy = proxied.proxy();

	private static final LaneRig rig = proxied.rig();

	@Test
	void anExpireIsNotResentToAKeyCreatedAfterIt() throws Exception {
		LaneContext context = rig.context(LaneRig.settings(100, 100, 1, LONG, 1), rig.threads());
		Lanes lanes = new Lanes(context);
		Record record = new Record();
		CompletableFuture<ProxyLink> cut = proxy.stopAt(Way.REPLIES, 0, 0);
		LaneRig.add(lanes, record, Operation.EXPIRE, "session", "100");
		LaneRig.add(lanes, record, Operation.HSET, "session", "user", "7");
		CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
		cut.get(1, TimeUnit.MINUTES).reset();
		drained.get(1, TimeUnit.MINUTES);
		lanes.close();
		assertThat(context.account().counts()).isEqualTo(new Counts(2, 1, 0, 0, 1, 0));
		assertThat(redis.client().ttl("session")).isEqualTo(-1);
		assertThat(redis.client().hget("session", "user")).isEqualTo("7");
	}

	@Test
	void aBusyRedisIsRetriedUntilTheTimeoutForOneRetry() throws Exception {
		LaneContext context = rig.context(LaneRig.settings(100, 100, 1, LONG, 1), rig.threads());
		Lanes lanes = new Lanes(context);
		drainWhileRedisIsBusy(lanes, new Record());
		lanes.close();
		assertThat(context.account().counts()).isEqualTo(new Counts(1, 1, 0, 0, 0, 0));
	}

	/**
	 * A lane counts as healthy when Redis answers its records, not when it waits for
	 * replicas.
	 */
	@Test
	void aRetryTakenWhileALaneAwaitsReplicasCoversThatLane() throws Exception {
		LaneContext context = rig.context(
				new LaneSettings(100, FlushPolicy.buffered(100), 1, LONG, 1, 1, Duration.ofMillis(20), false, false),
				rig.threads());
		Lanes lanes = new Lanes(context);
		Record record = new Record();
		redis.client().configResetstat();
		CompletableFuture<ProxyLink> wait = proxy.stopAt(Way.REPLIES, 1, 0);
		LaneRig.add(lanes, record, Operation.SET, "first", "value");
		CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
		await().until(() -> redis.client().info("commandstats").contains("cmdstat_wait:"));
		context.retries().take(System.nanoTime());
		wait.get(1, TimeUnit.MINUTES).goOn();
		drained.get(1, TimeUnit.MINUTES);
		drainWhileRedisIsBusy(lanes, record);
		lanes.close();
		assertThat(context.account().counts()).as("no replica is there").isEqualTo(new Counts(2, 0, 0, 0, 2, 0));
		assertThat(redis.client().get("key")).isEqualTo("value");
	}

	/**
	 * Drains the lanes while Redis is busy, until it has refused a record for some time.
	 */
	private static void drainWhileRedisIsBusy(Lanes lanes, Record record) throws Exception {
		redis.client().configSet("busy-reply-threshold", "1");
		RedisClient client = RedisClient.create(redis.uri());
		try (StatefulRedisConnection<String, String> script = client.connect()) {
			CompletableFuture<?> running = script.async()
				.eval("while true do end", ScriptOutputType.STATUS)
				.toCompletableFuture();
			await().pollInterval(Duration.ofMillis(1)).until(LaneFaultTests::isBusy);
			LaneRig.add(lanes, record, Operation.SET, "key", "value");
			CompletableFuture<ProxyLink> fifth = proxy.stopAt(Way.REPLIES, 5, 0);
			CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
			CompletableFuture.anyOf(fifth, drained).get(1, TimeUnit.MINUTES);
			redis.client().scriptKill();
			proxy.heal();
			drained.get(1, TimeUnit.MINUTES);
			assertThat(running).failsWithin(Duration.ofMinutes(1));
		}
		finally {
			client.shutdown();
		}
	}

	@Test
	void aCrashThatCannotBeLoggedStillStopsTheJob() throws Exception {
		String message = "A job failed by a defect of the service, and is stopped";
		QuietLog.expect(message);
		QuietLog.expect("no room for a line");
		AppenderBase<ILoggingEvent> full = new AppenderBase<>() {

			@Override
			protected void append(ILoggingEvent event) {
				throw new StackOverflowError("no room for a line");
			}

		};
		full.start();
		Logger logger = (Logger) LoggerFactory.getLogger(Lanes.class);
		LaneContext context = rig.context(LaneRig.settings(10, 1, 1, LONG), rig.threads());
		Lanes lanes = new Lanes(context);
		LaneRig.add(lanes, new Record(), Operation.RPUSH, "list", "0");
		lanes.drain();
		logger.addAppender(full);
		try {
			// The indexes of a new record object begin at 0 again.
			LaneRig.add(lanes, new Record(), Operation.RPUSH, "list", "1");
			CompletableFuture.runAsync(lanes::drain, rig.threads())
				.handle((nothing, ex) -> true)
				.get(1, TimeUnit.MINUTES);
		}
		finally {
			logger.detachAppender(full);
		}
		lanes.close();
		assertThat(context.stop().isSet()).isTrue();
		assertThat(context.account().counts()).isEqualTo(new Counts(2, 1, 0, 0, 0, 1));
		assertThat(context.clock().timings().batches().count()).as("batches, even if they crashed").isEqualTo(2);
	}

	@Test
	void aSlabThatTheDriverReturnsLateHasOneOwner() throws Exception {
		LaneContext context = rig.closingSoon(LaneRig.settings(10, 1, 1, Duration.ofSeconds(2)));
		Lanes lanes = new Lanes(context);
		CountDownLatch release = new CountDownLatch(1);
		Record record = new Record();
		CompletableFuture<Void> still = proxy.stopAt(Way.COMMANDS, 0, 1)
			.thenAccept((link) -> rig.clientResources()
				.eventLoopGroupProvider()
				.allocate(MultiThreadIoEventLoopGroup.class)
				.forEach((loop) -> LaneRig.hold(loop, release)));
		CompletableFuture<Void> reader = CompletableFuture.runAsync(() -> {
			for (int i = 0; i < 4; i++) {
				LaneRig.add(lanes, record, Operation.RPUSH, "list", String.valueOf(i));
			}
			lanes.drain();
		}, rig.threads());
		still.get(1, TimeUnit.MINUTES);
		await().until(context.stop()::isSet);
		proxy.heal();
		// The fence needs the driver's threads, which return the slabs first.
		release.countDown();
		reader.get(1, TimeUnit.MINUTES);
		lanes.close();
		assertThat(context.account().counts().received()).isEqualTo(4);
		Collection<?> free = free(lanes);
		Set<Object> different = Collections.newSetFromMap(new IdentityHashMap<>());
		different.addAll(free);
		assertThat(different).hasSameSizeAs(free);
	}

	@Test
	void aCrashAfterALossCreatesTheFence() throws Exception {
		QuietLog.expect("A job failed by a defect of the service, and is stopped");
		LaneContext sound = rig.context(LaneRig.settings(10, 10, 1, LONG), rig.threads());
		LaneContext context = new LaneContext(sound.settings(), sound.account(), sound.clock(), sound.stop(),
				sound.retries(), sound.inFlight(), sound.nodes(), sound.pipeline(), new BrokenMeters(), sound.trace(),
				sound.executor(), null, sound.memory(), sound.errorCheck());
		Lanes lanes = new Lanes(context);
		long kills = kills();
		CompletableFuture<ProxyLink> cut = proxy.stopAt(Way.REPLIES, 0, 0);
		LaneRig.add(lanes, new Record(), Operation.RPUSH, "list", "1");
		CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
		cut.get(1, TimeUnit.MINUTES).reset();
		drained.get(1, TimeUnit.MINUTES);
		lanes.close();
		await().until(() -> kills() > kills);
	}

	private static Collection<?> free(Lanes lanes) {
		Object lane = ((Object[]) ReflectionTestUtils.getField(lanes, "lanes"))[0];
		return (Collection<?>) ReflectionTestUtils.getField(ReflectionTestUtils.getField(lane, "window"), "free");
	}

	private static long kills() {
		return redis.client()
			.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_client|kill:"))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("[^=]*=(\\d+).*", "$1")))
			.sum();
	}

	private static boolean isBusy() {
		try {
			redis.client().get("any");
			return false;
		}
		catch (RedisBusyException ex) {
			return true;
		}
	}

	/** Meters that fail when a batch has ended. */
	private static final class BrokenMeters extends JobMeters {

		BrokenMeters() {
			super(new SimpleMeterRegistry());
		}

		@Override
		public void batch(String flush, long nanos, long commands, long bytes) {
			throw new IllegalStateException("The meters are broken");
		}

	}

}
