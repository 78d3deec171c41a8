package io.pipeset.engine.lane;

import java.time.Duration;
import java.util.stream.Stream;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Lanes with two connections to a Redis of their own, through a proxy. Each test begins
 * with an empty Redis, and must end with all permits and bytes released.
 */
final class ProxiedLanes implements BeforeEachCallback, AfterEachCallback, AfterAllCallback {

	private final OwnRedis own = OwnRedis.behindProxy();

	private final LaneRig rig;

	/**
	 * Starts the Redis, the proxy and the service without HTTP.
	 * @param properties further properties, each {@code name=value}
	 */
	ProxiedLanes(String... properties) {
		this.rig = new LaneRig(this.own.properties(),
				Stream
					.concat(Stream.of("pipeset.pipeline.max-connections=2", "pipeset.pipeline.connect-timeout=30s"),
							Stream.of(properties))
					.toArray(String[]::new));
	}

	TestRedis redis() {
		return this.own.redis();
	}

	FaultProxy proxy() {
		return this.own.proxy();
	}

	LaneRig rig() {
		return this.rig;
	}

	/**
	 * Opens one connection, including its handshake. A fence of the previous test may
	 * return another one later.
	 */
	@Override
	public void beforeEach(ExtensionContext context) {
		proxy().resetAll();
		await().until(this::warmUp);
		redis().client().flushall();
	}

	private boolean warmUp() {
		LaneContext job = this.rig.context(LaneRig.settings(10, 10, 1, Duration.ofMinutes(1)), this.rig.threads());
		Lanes lanes = new Lanes(job);
		LaneRig.add(lanes, new Record(), Operation.SET, "warm", "up");
		lanes.drain();
		lanes.close();
		return job.account().counts().applied() == 1;
	}

	@Override
	public void afterEach(ExtensionContext context) {
		this.own.afterEach(context);
		await().untilAsserted(() -> assertThat(this.rig.permits().taken()).as("connections").isZero());
		assertThat(this.rig.inFlight().now()).as("bytes in flight").isZero();
	}

	@Override
	public void afterAll(ExtensionContext context) {
		this.rig.close();
		this.own.afterAll(context);
	}

}
