package io.pipeset.engine.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.pipeset.engine.pipeline.Fence;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.StopSignal;
import io.pipeset.engine.pipeline.call.KeyFilter;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ScanPosition;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.redis.TestRedis;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The Sentinels that know of the last failover decide which server is master. */
class SentinelNodesTests {

	private static final TestRedis former = TestRedis.start();

	private static final TestRedis next = TestRedis.start();

	private static final Duration SOON = Duration.ofSeconds(20);

	private final RedisClient client = RedisClient.create();

	private final List<Sentinel> sentinels = new ArrayList<>();

	private final LettuceConnectionFactory factory = factory();

	@AfterEach
	void end() throws IOException {
		this.factory.destroy();
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		for (Sentinel sentinel : this.sentinels) {
			sentinel.listening.close();
		}
	}

	/** All servers that Sentinels name have the same password. */
	@BeforeAll
	static void start() {
		next.client().configSet("requirepass", String.valueOf(former.password()));
	}

	@AfterAll
	static void stop() {
		former.close();
		next.close();
	}

	@Test
	void aSentinelThatMissedAFailoverBeforeTheStartIsOutvoted() throws Exception {
		Sentinel late = new Sentinel(former, 1);
		late.speaks = new CountDownLatch(1);
		try (SentinelNodes nodes = nodes(new Sentinel(next, 2), late)) {
			await().untilAsserted(() -> {
				nodes.look();
				assertThat(nodes.name()).isEqualTo(address(next));
			});
			late.speaks.countDown();
			await().untilAsserted(() -> {
				nodes.look();
				assertThat(this.sentinels).allMatch((sentinel) -> sentinel.answers.get() > 1);
			});
			nodes.look();
			assertThat(nodes.name()).isEqualTo(address(next));
			assertThat(nodes.masters()).extracting(RedisNode::name).containsExactly(address(next));
			assertThat(nodes.failovers()).isZero();
		}
	}

	@Test
	void afterAFailoverNothingIsSentToTheFormerMaster() throws Exception {
		Sentinel sentinel = new Sentinel(former, 1);
		try (SentinelNodes nodes = nodes(sentinel)) {
			RedisNode one = nodes.masters().get(0);
			assertThat(one.name()).isEqualTo(address(former));
			AtomicReference<Fence> fence = new AtomicReference<>();
			assertThat(one.permits().tryAcquire()).isTrue();
			one.run(FlushPolicy.each(), SOON, StopSignal.NEVER, (pipeline) -> {
				sentinel.master = next;
				await().until(() -> {
					nodes.look();
					return nodes.failovers() == 1;
				});
				assertThatExceptionOfType(RedisCallException.class)
					.isThrownBy(() -> pipeline.waitForReplicas(1, Duration.ofMillis(1), SOON));
				assertThat(pipeline.looksSuperseded()).isTrue();
				assertThat(pipeline.failure()).isEqualTo("Redis at " + address(next) + " has become master");
				fence.set(pipeline.fence());
			});
			assertThat(fence.get().await(Duration.ZERO, false, StopSignal.NEVER)).isEqualTo(Fence.State.CONFIRMED);
			RedisNode other = nodes.masters().get(0);
			assertThat(other.name()).isEqualTo(address(next));
			assertThat(nodes.isReplaced(one)).isTrue();
			assertThat(nodes.isReplaced(other)).isFalse();
			assertThat(one.permits().tryAcquire()).isTrue();
			assertThatExceptionOfType(NoConnectionException.class)
				.isThrownBy(() -> one.run(FlushPolicy.each(), SOON, StopSignal.NEVER, (pipeline) -> {
				}))
				.withMessageContaining(address(next) + " has become master");
			assertThat(one.permits().taken()).isZero();
			next.client().set("who", "next");
			byte[] who = (byte[]) one.calls()
				.evalOnce(false, "return {redis.call('GET', KEYS[1])}", List.of("who".getBytes(StandardCharsets.UTF_8)),
						List.of())
				.get(0);
			assertThat(who).as("a call to the former master").asString().isEqualTo("next");
		}
	}

	/** The pool lends a batch the connection that has answered the call. */
	@Test
	void aConnectionIsFencedAtItsServerAfterItAnsweredACallToTheFormerMaster() throws Exception {
		Sentinel sentinel = new Sentinel(former, 1);
		try (SentinelNodes nodes = nodes(sentinel)) {
			RedisNode one = nodes.masters().get(0);
			sentinel.master = next;
			await().until(() -> {
				nodes.look();
				return one.isReplaced();
			});
			one.calls().scan(ScanPosition.START, new KeyFilter("*", null), 10, 1000);
			RedisNode other = nodes.masters().get(0);
			assertThat(other.permits().tryAcquire()).isTrue();
			AtomicReference<Fence> fence = new AtomicReference<>();
			other.run(FlushPolicy.each(), SOON, StopSignal.NEVER, (pipeline) -> {
				pipeline.abandon();
				fence.set(pipeline.fence());
			});
			assertThat(fence.get().await(SOON, true, StopSignal.NEVER)).isEqualTo(Fence.State.CONFIRMED);
		}
	}

	@Test
	void aMasterThatComesBackIsAnotherNode() throws Exception {
		Sentinel sentinel = new Sentinel(former, 1);
		try (SentinelNodes nodes = nodes(sentinel)) {
			RedisNode first = nodes.masters().get(0);
			for (TestRedis master : List.of(next, former)) {
				sentinel.master = master;
				await().until(() -> {
					nodes.look();
					return nodes.name().equals(address(master));
				});
			}
			RedisNode again = nodes.masters().get(0);
			assertThat(again).isNotSameAs(first);
			assertThat(again.name()).isEqualTo(first.name());
			assertThat(again.failovers()).isEqualTo(2);
			assertThat(again.calls().version()).isEqualTo(first.calls().version());
			assertThat(first.isReplaced()).isTrue();
			assertThat(again.isReplaced()).isFalse();
		}
	}

	/** A Sentinel does so between SENTINEL REMOVE and SENTINEL MONITOR. */
	@Test
	void theKnownMasterStaysWhenASentinelForgetsIt() throws Exception {
		Sentinel sentinel = new Sentinel(former, 1);
		try (SentinelNodes nodes = nodes(sentinel)) {
			nodes.look();
			sentinel.master = null;
			int answers = sentinel.answers.get();
			await().until(() -> {
				nodes.look();
				return sentinel.answers.get() > answers + 1;
			});
			assertThat(nodes.masters()).extracting(RedisNode::name).containsExactly(address(former));
		}
	}

	@Test
	void pollingEndsBeforeItsClientAndSendsNoMoreQueries() throws Exception {
		Sentinel sentinel = new Sentinel(former, 1);
		try (SentinelNodes nodes = nodes(sentinel)) {
			nodes.look();
			assertThat(sentinel.answers.get()).isPositive();
			assertThat(nodes.getPhase()).isGreaterThan(new LettuceConnectionFactory().getPhase());
			nodes.stop();
			sentinel.master = next;
			nodes.look();
			assertThat(nodes.isRunning()).isFalse();
			assertThat(nodes.name()).isEqualTo(address(former));
		}
	}

	@Test
	void pollingContinuesAfterAPauseOfTheService() throws Exception {
		Sentinel sentinel = new Sentinel(former, 1);
		try (SentinelNodes nodes = nodes(sentinel)) {
			nodes.start();
			nodes.stop();
			nodes.start();
			assertThat(nodes.isRunning()).isTrue();
			await().until(() -> nodes.name().equals(address(former)));
			nodes.stop();
			// Stopping waits at most one second for the polling thread.
			await().until(() -> !nodes.isRunning());
		}
	}

	private SentinelNodes nodes(Sentinel... sentinels) {
		this.sentinels.addAll(List.of(sentinels));
		return new SentinelNodes("mymaster",
				Arrays.stream(sentinels)
					.map((sentinel) -> new SentinelLink(() -> this.client,
							RedisURI.create("127.0.0.1", sentinel.listening.getLocalPort()), "mymaster", SOON))
					.toList(),
				this.factory, new PipelineProperties(2, 1000, DataSize.ofMegabytes(1), Duration.ofSeconds(5), false),
				SOON);
	}

	private static LettuceConnectionFactory factory() {
		RedisSentinelConfiguration sentinel = new RedisSentinelConfiguration("mymaster", Set.of("127.0.0.1:1"));
		sentinel.setPassword(former.password());
		GenericObjectPoolConfig<StatefulConnection<?, ?>> pool = new GenericObjectPoolConfig<>();
		pool.setTestOnBorrow(true);
		LettuceConnectionFactory factory = new LettuceConnectionFactory(sentinel,
				LettucePoolingClientConfiguration.builder().poolConfig(pool).build());
		factory.afterPropertiesSet();
		return factory;
	}

	private static String address(TestRedis server) {
		return server.host() + ":" + server.port();
	}

	/** Answers as Sentinels do, with a master and an epoch. */
	private static final class Sentinel {

		private final ServerSocket listening = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());

		private final AtomicInteger answers = new AtomicInteger();

		private volatile @Nullable TestRedis master;

		private final int epoch;

		/** It does not name the master before. */
		private volatile CountDownLatch speaks = new CountDownLatch(0);

		Sentinel(TestRedis master, int epoch) throws IOException {
			this.master = master;
			this.epoch = epoch;
			Thread thread = new Thread(this::serve, "sentinel");
			thread.setDaemon(true);
			thread.start();
		}

		private void serve() {
			while (true) {
				try (Socket socket = this.listening.accept()) {
					BufferedReader in = new BufferedReader(
							new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
					OutputStream out = socket.getOutputStream();
					for (String count = in.readLine(); count != null; count = in.readLine()) {
						List<String> words = new ArrayList<>();
						for (int i = Integer.parseInt(count.substring(1)); i > 0; i--) {
							in.readLine();
							words.add(in.readLine().toLowerCase(Locale.ROOT));
						}
						out.write(answer(words).getBytes(StandardCharsets.UTF_8));
						out.flush();
					}
				}
				catch (IOException ex) {
					if (this.listening.isClosed()) {
						return;
					}
				}
				catch (InterruptedException ex) {
					return;
				}
			}
		}

		private String answer(List<String> words) throws InterruptedException {
			if (words.get(0).equals("hello")) {
				return "-ERR unknown command\r\n";
			}
			if (words.contains("get-master-addr-by-name")) {
				this.speaks.await();
				this.answers.incrementAndGet();
				TestRedis named = this.master;
				return (named != null) ? array(named.host(), String.valueOf(named.port())) : "*-1\r\n";
			}
			return (words.contains("master")) ? array("config-epoch", String.valueOf(this.epoch)) : "+OK\r\n";
		}

		private static String array(String... values) {
			StringBuilder array = new StringBuilder("*" + values.length + "\r\n");
			for (String value : values) {
				array.append("$").append(value.length()).append("\r\n").append(value).append("\r\n");
			}
			return array.toString();
		}

	}

}
