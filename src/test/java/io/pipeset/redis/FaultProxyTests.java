package io.pipeset.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.pipeset.redis.FaultProxy.Way;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.awaitility.Awaitility.await;

/** The proxy breaks connections in the way and at the place that a test asks for. */
class FaultProxyTests {

	private static final String KEY = "proxied";

	private final TestRedis redis = TestRedis.shared();

	private final FaultProxy proxy = FaultProxy.open(this.redis);

	private final RedisClient client = RedisClient.create(uri());

	private final StatefulRedisConnection<String, String> connection = connect();

	private RedisURI uri() {
		RedisURI uri = this.redis.uri();
		uri.setHost("127.0.0.1");
		uri.setPort(this.proxy.port());
		return uri;
	}

	private StatefulRedisConnection<String, String> connect() {
		this.client.setOptions(ClientOptions.builder().autoReconnect(false).build());
		return this.client.connect();
	}

	@BeforeEach
	void forget() {
		this.redis.client().del(KEY);
	}

	@AfterEach
	void end() {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		this.proxy.close();
	}

	@Test
	void forwardsWhatIsLargerThanItsBuffers() {
		String large = "x".repeat(5_000_000);
		assertThat(this.connection.sync().set(KEY, large)).isEqualTo("OK");
		assertThat(this.connection.sync().get(KEY)).isEqualTo(large);
		assertThat(this.proxy.links()).isEqualTo(1);
	}

	@Test
	void stopsBehindTheReplyItWasTold() throws Exception {
		var place = this.proxy.stopAt(Way.REPLIES, 2, 0);
		List<RedisFuture<Long>> replies = increments(5);
		ProxyLink link = place.get(10, TimeUnit.SECONDS);
		await().until(() -> "5".equals(this.redis.client().get(KEY)));
		await().until(() -> replies.get(1).isDone());
		assertThat(replies).extracting(RedisFuture::isDone).containsExactly(true, true, false, false, false);
		link.goOn();
		assertThat(replies.get(4).get(10, TimeUnit.SECONDS)).isEqualTo(5);
	}

	@Test
	void countsAndStopsOnlyTheClientThatItWasTold() throws Exception {
		RedisURI uri = uri();
		uri.setClientName("named");
		var place = this.proxy.stopAt("named", Way.REPLIES, 6, 0);
		assertThat(increments(20)).allSatisfy((reply) -> assertThat(reply.get(10, TimeUnit.SECONDS)).isPositive());
		assertThat(place.isDone()).isFalse();
		List<RedisFuture<Long>> replies = new ArrayList<>();
		try (StatefulRedisConnection<String, String> named = this.client.connect(uri)) {
			for (int i = 0; i < 6; i++) {
				replies.add(named.async().incr(KEY));
			}
			place.get(10, TimeUnit.SECONDS);
			assertThat(replies.get(5).isDone()).isFalse();
			assertThat(increments(1).get(0).get(10, TimeUnit.SECONDS)).isPositive();
		}
	}

	@Test
	void cutsInsideACommandWhichRedisDoesNotRun() throws Exception {
		var place = this.proxy.stopAt(Way.COMMANDS, 1, 10);
		List<RedisFuture<Long>> replies = increments(2);
		ProxyLink link = place.get(10, TimeUnit.SECONDS);
		assertThat(replies.get(0).get(10, TimeUnit.SECONDS)).isEqualTo(1);
		link.reset();
		assertThatException().isThrownBy(() -> replies.get(1).get(10, TimeUnit.SECONDS));
		await().until(() -> this.proxy.links() == 0);
		assertThat(this.redis.client().get(KEY)).isEqualTo("1");
	}

	@Test
	void letsRedisRunWhatItHadForwardedBeforeAnOrderlyEnd() throws Exception {
		var replied = this.proxy.stopAt(Way.REPLIES, 0, 0);
		List<RedisFuture<Long>> replies = increments(1);
		replied.get(10, TimeUnit.SECONDS).end();
		assertThatException().isThrownBy(() -> replies.get(0).get(10, TimeUnit.SECONDS));
		assertThat(this.redis.client().get(KEY)).isEqualTo("1");
	}

	@Test
	void resetsEveryConnection() {
		StatefulRedisConnection<String, String> other = this.client.connect();
		this.proxy.resetAll();
		await().until(() -> !this.connection.isOpen() && !other.isOpen());
		assertThat(this.proxy.links()).isZero();
	}

	@Test
	void stopsNewConnectionsToo() {
		this.proxy.stopAll();
		assertThatException().isThrownBy(() -> this.client.connect(uriWithTimeout()));
		this.proxy.heal();
		assertThat(this.connection.sync().ping()).isEqualTo("PONG");
	}

	private RedisURI uriWithTimeout() {
		return RedisURI.builder(uri()).withTimeout(Duration.ofMillis(100)).build();
	}

	@Test
	void forgetsWhatAClientThatIsGoneHadSent() throws Exception {
		var place = this.proxy.stopAt(Way.COMMANDS, 0, 0);
		increments(1);
		place.get(10, TimeUnit.SECONDS);
		this.connection.close();
		this.proxy.heal();
		assertThat(this.proxy.links()).isZero();
		assertThat(this.redis.client().get(KEY)).isNull();
	}

	@Test
	void isLateInBothDirectionsAndSlow() {
		this.proxy.delay(Duration.ofMillis(20));
		assertThat(millis()).isGreaterThanOrEqualTo(38);
		this.proxy.heal();
		this.proxy.slow(1);
		assertThat(millis()).isGreaterThanOrEqualTo(10);
	}

	private long millis() {
		long began = System.nanoTime();
		this.connection.sync().ping();
		return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
	}

	private List<RedisFuture<Long>> increments(int count) {
		return IntStream.range(0, count).mapToObj((i) -> this.connection.async().incr(KEY)).toList();
	}

}
