package io.pipeset.web.fault;

import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.ProxyLink;
import io.pipeset.redis.TestRedis;
import org.jspecify.annotations.Nullable;

import static org.awaitility.Awaitility.await;

/**
 * Faults at random places of the way to Redis, one after the other. The same seed makes
 * the same ones for each loader.
 */
final class OnceFaults {

	private final Random random;

	private final FaultProxy proxy;

	private final TestRedis redis;

	private final int records;

	OnceFaults(long seed, FaultProxy proxy, TestRedis redis, int records) {
		this.random = new Random(seed);
		this.proxy = proxy;
		this.redis = redis;
		this.records = records;
	}

	/**
	 * Cuts connections until a load has ended.
	 * @param most the number of cuts
	 * @return how many cuts there were
	 */
	int cut(int most, CompletableFuture<?> load) throws Exception {
		int cuts = 0;
		for (; cuts < most; cuts++) {
			ProxyLink link = reach(null, most, load);
			if (link == null) {
				break;
			}
			int way = this.random.nextInt(7);
			if (way == 0) {
				this.proxy.resetAll();
			}
			else if (way <= 3) {
				link.reset();
			}
			else {
				link.end();
			}
		}
		return cuts;
	}

	/** Kills Redis, and starts it again at once or when connections were refused. */
	int killRedis(int most, CompletableFuture<?> load) throws Exception {
		int kills = 0;
		for (; kills < most; kills++) {
			ProxyLink link = reach(null, most, load);
			if (link == null) {
				break;
			}
			this.redis.kill();
			if (this.random.nextBoolean()) {
				link.goOn();
			}
			else {
				link.reset();
			}
			TimeUnit.MILLISECONDS.sleep((this.random.nextBoolean()) ? 0 : this.random.nextInt(300));
			this.redis.restart();
			await().ignoreExceptions().until(() -> this.redis.client().ping().equals("PONG"));
		}
		return kills;
	}

	/**
	 * Waits until a connection has come to a random place, at which it is stopped.
	 * @param client whose connections count; {@code null} for all
	 * @param faults how many faults the load has
	 * @return {@code null} if the load has ended before
	 */
	@Nullable ProxyLink reach(@Nullable String client, int faults, CompletableFuture<?> load) throws Exception {
		Way way = (this.random.nextBoolean()) ? Way.COMMANDS : Way.REPLIES;
		// Some follow at once, where connections are checked, fenced and noted.
		long messages = (this.random.nextInt(3) == 0) ? this.random.nextInt(40)
				: this.random.nextInt(1 + 2 * this.records / (faults + 1));
		int bytes = switch (this.random.nextInt(4)) {
			case 0 -> 0;
			case 1 -> this.random.nextInt(30);
			case 2 -> this.random.nextInt(300);
			default -> this.random.nextInt(2000);
		};
		CompletableFuture<ProxyLink> place = this.proxy.stopAt(client, way, messages, bytes);
		CompletableFuture.anyOf(place, load.exceptionally((ex) -> null)).get(3, TimeUnit.MINUTES);
		if (place.isDone()) {
			return place.get();
		}
		this.proxy.heal();
		return null;
	}

}
