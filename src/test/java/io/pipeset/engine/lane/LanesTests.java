package io.pipeset.engine.lane;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.pipeset.QuietLog;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.slab.Loss;
import io.pipeset.memory.MemoryShare;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending.Cause;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Lanes keep the order of records and release all resources. If they cannot, the job is
 * stopped and the log says why.
 */
class LanesTests {

	private static final Duration LONG = Duration.ofMinutes(10);

	@RegisterExtension
	static final ProxiedLanes proxied = new ProxiedLanes();

	private static final TestRedis redis = proxied.redis();

	private static final FaultProxy proxy = proxied.proxy();

	private static final LaneRig rig = proxied.rig();

	@AfterEach
	void closedLanesHoldNothing() {
		proxy.heal();
		assertThat(rig.inFlight().now()).as("bytes in flight").isZero();
		assertThat(rig.permits().taken()).as("connections").isZero();
	}

	@Test
	void recordsOfAKeyStayInOrderWhenTheInputPauses() {
		LaneContext context = rig.context(LaneRig.settings(333, 50, 8, LONG), rig.threads());
		Lanes lanes = new Lanes(context);
		Record record = new Record();
		int records = 40_000;
		for (int i = 0; i < records; i++) {
			push(lanes, record, "list" + i % 16, i);
			if (i % 37 == 0) {
				lanes.lend();
				pause(i % 5 * 400_000L);
				lanes.reclaim();
			}
		}
		lanes.drain();
		lanes.close();
		assertThat(context.account().counts()).isEqualTo(new Counts(records, records, 0, 0, 0, 0));
		for (int list = 0; list < 16; list++) {
			int first = list;
			assertThat(redis.client().lrange("list" + list, 0, -1))
				.isEqualTo(IntStream.range(0, records / 16).mapToObj((n) -> String.valueOf(first + 16 * n)).toList());
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aTransactionIsNotCutShortWhenMemoryIsScarce(boolean ids) {
		redis.client().configResetstat();
		LaneContext context = rig.context(
				new LaneSettings(30, FlushPolicy.close(), 1, LONG, 0, 0, Duration.ofSeconds(1), true, false),
				rig.threads());
		List<MemoryShare> others = Stream.generate(() -> rig.memory().open(new JobStop())).limit(60).toList();
		// Each takes what it may, which leaves the others less and less.
		others.forEach((other) -> {
			for (long bytes = rig.memory().limits().budget(); bytes > 0; bytes /= 2) {
				other.tryReserve(bytes);
			}
		});
		Lanes lanes = new Lanes(context);
		((MemoryShare) context.memory()).beforeWait(lanes::sendBegun);
		Record record = new Record();
		String value = "x".repeat((ids) ? 10 : 50_000);
		for (int i = 0; i < 60; i++) {
			LaneRig.prepare(record, Operation.SET, "key" + i, value);
			record.id((ids) ? "i".repeat(8000) : null);
			lanes.add(record);
		}
		lanes.drain();
		lanes.close();
		others.forEach(MemoryShare::close);
		assertThat(context.account().counts()).isEqualTo(new Counts(60, 60, 0, 0, 0, 0));
		assertThat(redis.client().info("commandstats")).contains("cmdstat_exec:calls=2,");
	}

	@Test
	void aSlabOutOfOrderIsNotSentAndStopsTheJob() {
		String defect = "A job failed by a defect of the service, and is stopped";
		QuietLog.expect(defect);
		LaneContext context = rig.context(LaneRig.settings(10, 1, 1, LONG), rig.threads());
		Lanes lanes = new Lanes(context);
		push(lanes, new Record(), "list", 0);
		lanes.drain();
		// The indexes of a new record object begin at 0 again.
		Record late = new Record();
		push(lanes, late, "list", 1);
		push(lanes, late, "list", 2);
		lanes.drain();
		lanes.close();
		assertThat(context.stop().ending()).isNotNull().satisfies((ending) -> {
			assertThat(ending.cause()).isEqualTo(Cause.INTERNAL_SERVER_ERROR);
			assertThat(ending.detail()).contains("Record 0 would be sent after record 0 of the same lane");
		});
		assertThat(redis.client().lrange("list", 0, -1)).containsExactly("0");
		assertThat(context.account().counts()).isEqualTo(new Counts(3, 1, 0, 0, 0, 2));
		assertThat(QuietLog.heard()).anyMatch((line) -> line.contains(defect));
	}

	@Test
	void aLaneWithoutAThreadStopsTheJobAndIsSettledByTheReader() {
		String defect = "No thread could be started for a job";
		QuietLog.expect(defect);
		Executor none = (lane) -> {
			throw new RejectedExecutionException("no thread");
		};
		LaneContext context = rig.context(LaneRig.settings(10, 1, 4, LONG), none);
		Lanes lanes = new Lanes(context);
		Record record = new Record();
		for (int i = 0; i < 8; i++) {
			push(lanes, record, "list" + i, i);
		}
		lanes.drain();
		lanes.close();
		assertThat(context.account().counts()).isEqualTo(new Counts(8, 0, 0, 0, 0, 8));
		assertThat(context.stop().ending()).isNotNull()
			.satisfies((ending) -> assertThat(ending.detail()).contains("could not start a thread")
				.contains("pipeset.limits.max-running-jobs"));
		assertThat(QuietLog.heard()).anyMatch((line) -> line.contains(defect));
	}

	@Test
	void freeSlabsAreReleasedForALargeRecord() {
		LaneContext context = rig.context(LaneRig.settings(10, 1, 4, LONG), rig.threads());
		Lanes lanes = new Lanes(context);
		MemoryShare memory = (MemoryShare) context.memory();
		memory.beforeWait(lanes::sendBegun);
		long others = rig.memory().used();
		Record record = new Record();
		for (int i = 0; i < 40; i++) {
			push(lanes, record, "list" + i, i);
		}
		lanes.drain();
		assertThat(rig.memory().used()).as("slabs kept for later").isGreaterThan(others);
		long all = rig.memory().limits().mostOfOneJob();
		memory.reserve(all);
		assertThat(rig.memory().used()).isEqualTo(others + all);
		lanes.close();
		memory.close();
	}

	@Test
	void aStopWakesALaneThatWaitsForAConnection() throws Exception {
		assertThat(rig.permits().tryAcquire()).isTrue();
		assertThat(rig.permits().tryAcquire()).isTrue();
		LaneContext context = rig.context(LaneRig.settings(10, 1, 1, LONG), rig.threads());
		Lanes lanes = new Lanes(context);
		push(lanes, new Record(), "list", 0);
		CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
		await().until(() -> rig.permits().waiting() == 1);
		context.stop().stop(Cause.SHUTTING_DOWN, "enough");
		drained.get(1, TimeUnit.MINUTES);
		lanes.close();
		assertThat(context.account().counts()).isEqualTo(new Counts(1, 0, 0, 0, 0, 1));
		rig.permits().release();
		rig.permits().release();
	}

	@Test
	void aStopShortensTheWaitForAFence() throws Exception {
		LaneContext context = rig.context(LaneRig.settings(10, 1, 1, LONG, 1), rig.threads());
		Lanes lanes = new Lanes(context);
		Record record = new Record();
		push(lanes, record, "list", 0);
		lanes.drain();
		CompletableFuture<Void> cut = proxy.stopAt(Way.REPLIES, 0, 0).thenAccept((link) -> {
			proxy.stopAll();
			link.reset();
		});
		push(lanes, record, "list", 1);
		CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
		cut.get(1, TimeUnit.MINUTES);
		await().until(() -> !context.retries().isLeft());
		context.stop().stop(Cause.SHUTTING_DOWN, "enough");
		drained.get(1, TimeUnit.MINUTES);
		lanes.close();
		assertThat(context.account().counts()).isEqualTo(new Counts(2, 1, 0, 0, 1, 0));
		assertThat(context.account().losses().found().fenced()).isFalse();
	}

	/**
	 * The connection is older than the loss, but its last answer is newer. A demotion
	 * that is seen first counts as the same failure.
	 */
	@Test
	void recordsRefusedByAReplicaAreResentWithTheRetryOfAnotherLane() throws Exception {
		LaneContext context = following(LaneRig.settings(10, 1, 1, LONG, 1));
		Lanes lanes = new Lanes(context);
		Record record = new Record();
		redis.client().del("list");
		redis.client().configResetstat();
		push(lanes, record, "list", 0);
		lanes.drain();
		context.retries().take(System.nanoTime());
		push(lanes, record, "list", 1);
		lanes.drain();
		redis.client().replicaof("127.0.0.1", 1);
		try {
			push(lanes, record, "list", 2);
			CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
			await().until(() -> redis.client().info("errorstats").contains("errorstat_READONLY"));
			redis.client().replicaofNoOne();
			drained.get(1, TimeUnit.MINUTES);
		}
		finally {
			redis.client().replicaofNoOne();
		}
		lanes.close();
		assertThat(context.account().counts()).isEqualTo(new Counts(3, 3, 0, 0, 0, 0));
		assertThat(redis.client().lrange("list", 0, -1)).containsExactly("0", "1", "2");
	}

	/**
	 * A record whose answer was not read may have run, so it is not reported as READONLY.
	 */
	@Test
	void aRecordLostAfterAReadonlyErrorIsReportedAsLost() throws Exception {
		LaneContext context = following(LaneRig.settings(10, 1, 1, LONG, 1));
		Lanes lanes = new Lanes(context);
		Record record = new Record();
		push(lanes, record, "a", 0);
		lanes.drain();
		redis.client().configResetstat();
		redis.client().replicaof("127.0.0.1", 1);
		try {
			CompletableFuture<ProxyLink> held = proxy.stopAt(Way.REPLIES, 0, 0);
			push(lanes, record, "a", 1);
			push(lanes, record, "b", 2);
			CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
			await().until(() -> redis.client().info("errorstats").contains("errorstat_READONLY:count=2"));
			redis.client().replicaofNoOne();
			ProxyLink link = held.get(1, TimeUnit.MINUTES);
			CompletableFuture<ProxyLink> cut = proxy.stopAt(Way.REPLIES, 1, 0);
			link.goOn();
			cut.get(1, TimeUnit.MINUTES).end();
			drained.get(1, TimeUnit.MINUTES);
		}
		finally {
			redis.client().replicaofNoOne();
		}
		lanes.close();
		assertThat(context.account().counts()).isEqualTo(new Counts(3, 2, 0, 0, 1, 0));
		assertThat(context.account().items()).singleElement()
			.satisfies((item) -> assertThat(item.error().code()).isEqualTo(Loss.CONNECTION_LOST));
	}

	private static LaneContext following(LaneSettings settings) {
		LaneContext job = rig.context(settings, rig.threads());
		RedisNodes following = (RedisNodes) Proxy.newProxyInstance(RedisNodes.class.getClassLoader(),
				new Class<?>[] { RedisNodes.class },
				(proxy, method, arguments) -> method.getName().equals("isFollowing") ? true
						: method.invoke(job.nodes(), arguments));
		return new LaneContext(job.settings(), job.account(), job.clock(), job.stop(), job.retries(), job.inFlight(),
				following, job.pipeline(), job.meters(), job.trace(), job.executor(), null, job.memory(),
				job.errorCheck());
	}

	@Test
	void slabsThatTheDriverKeepsAreUnknownAndFencedAndNotReused() throws Exception {
		LaneContext context = rig.closingSoon(LaneRig.settings(10, 10, 1, Duration.ofSeconds(2)));
		Lanes lanes = new Lanes(context);
		CountDownLatch release = new CountDownLatch(1);
		Record record = new Record();
		push(lanes, record, "list", 0);
		lanes.drain();
		push(lanes, record, "list", 1);
		// The proxy withholds the answer. The driver's threads are blocked before they
		// can see the
		// end of the connection.
		CompletableFuture<Void> still = proxy.stopAt(Way.COMMANDS, 0, 1)
			.thenAccept((link) -> rig.clientResources()
				.eventLoopGroupProvider()
				.allocate(MultiThreadIoEventLoopGroup.class)
				.forEach((loop) -> LaneRig.hold(loop, release)));
		CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
		still.get(1, TimeUnit.MINUTES);
		await().until(context.stop()::isSet);
		proxy.heal();
		release.countDown();
		drained.get(1, TimeUnit.MINUTES);
		lanes.close();
		assertThat(context.account().counts()).isEqualTo(new Counts(2, 1, 0, 0, 1, 0));
		assertThat(context.account().losses().found().fenced()).isTrue();
		assertThat(context.stop().ending()).isNotNull()
			.satisfies((ending) -> assertThat(ending.detail()).contains("did not close in time"));
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 3, 4, 10, 11, 59 })
	void recordsResentAfterALossKeepTheirOrder(int replies) throws Exception {
		LaneContext context = rig.context(LaneRig.settings(100, 5, 1, LONG, 1), rig.threads());
		Lanes lanes = new Lanes(context);
		Record record = new Record();
		// The connection is opened, with its handshake, before messages are counted.
		set(lanes, record, 0);
		lanes.drain();
		CompletableFuture<ProxyLink> cut = proxy.stopAt(Way.REPLIES, replies, 0);
		for (int i = 1; i <= 60; i++) {
			set(lanes, record, i);
			if (i % 7 == 0) {
				lanes.lend();
				lanes.reclaim();
			}
		}
		CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
		ProxyLink link = cut.get(1, TimeUnit.MINUTES);
		// The reset may come at the end of a batch. Then it hits a record of the next
		// one.
		await().until(() -> Integer.parseInt(redis.client().get("last")) > replies);
		link.reset();
		drained.get(1, TimeUnit.MINUTES);
		lanes.close();
		assertThat(context.account().counts()).isEqualTo(new Counts(61, 61, 0, 0, 0, 0));
		assertThat(context.account().losses().found().fenced()).isTrue();
		assertThat(redis.client().get("last")).isEqualTo("60");
		assertThat(context.stop().isSet()).isFalse();
	}

	@Test
	void nonRepeatableRecordsAreUnknownAfterALossAndTheOthersStayInOrder() throws Exception {
		LaneContext context = rig.context(LaneRig.settings(100, 5, 1, LONG, 1), rig.threads());
		Lanes lanes = new Lanes(context);
		Record record = new Record();
		push(lanes, record, "list", 0);
		lanes.drain();
		CompletableFuture<ProxyLink> cut = proxy.stopAt(Way.REPLIES, 7, 0);
		for (int i = 1; i <= 40; i++) {
			push(lanes, record, "list", i);
		}
		CompletableFuture<Void> drained = CompletableFuture.runAsync(lanes::drain, rig.threads());
		cut.get(1, TimeUnit.MINUTES).reset();
		drained.get(1, TimeUnit.MINUTES);
		lanes.close();
		Counts counts = context.account().counts();
		List<Integer> list = redis.client().lrange("list", 0, -1).stream().map(Integer::valueOf).toList();
		assertThat(list).isSorted().doesNotHaveDuplicates();
		assertThat(counts.received()).isEqualTo(41);
		assertThat(counts.unknown()).isPositive();
		assertThat(counts.applied() + counts.unknown() + counts.unprocessed()).isEqualTo(41);
		assertThat((long) list.size()).isBetween(counts.applied(), counts.applied() + counts.unknown());
	}

	private static void push(Lanes lanes, Record record, String list, int value) {
		LaneRig.add(lanes, record, Operation.RPUSH, list, String.valueOf(value));
	}

	private static void set(Lanes lanes, Record record, int value) {
		LaneRig.add(lanes, record, Operation.SET, "last", String.valueOf(value));
	}

	private static void pause(long nanos) {
		LockSupport.parkNanos(nanos);
	}

}
