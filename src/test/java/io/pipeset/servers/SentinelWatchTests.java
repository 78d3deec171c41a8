package io.pipeset.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The Sentinels that have heard of the last failover decide where connections lead. */
class SentinelWatchTests {

	private static final int OLD = 7001;

	private static final int NEW = 7002;

	private final RedisClient client = RedisClient.create();

	private final List<Sentinel> sentinels = new ArrayList<>();

	private final MasterChannels channels = new MasterChannels();

	@AfterEach
	void end() throws IOException {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		for (Sentinel sentinel : this.sentinels) {
			sentinel.listening.close();
		}
	}

	@Test
	void noConnectionLeadsWhereASentinelPointsThatMissedAFailoverBeforeTheServiceBegan() throws Exception {
		SentinelWatch watch = watch(new Sentinel(NEW, 2), new Sentinel(OLD, 1));
		await().untilAsserted(() -> {
			watch.look();
			assertThat(this.sentinels).allMatch((sentinel) -> sentinel.answers.get() > 1);
		});
		watch.look();
		assertThat(watch.address()).isEqualTo("127.0.0.1:" + NEW);
		assertThat(watch.switches()).isZero();
		assertThat(this.channels.resolver().resolve(RedisURI.create("127.0.0.1", OLD))).isEqualTo(address(NEW));
		EmbeddedChannel opened = new Connection(OLD);
		this.channels.add(opened);
		opened.pipeline().fireChannelActive();
		assertThat(opened.isOpen()).as("the connection to the old master").isFalse();
		watch.stop();
	}

	@Test
	void aConnectionThatIsLentDuringTheSwitchNeverCountsAsOneToTheNewMaster() throws Exception {
		Sentinel sentinel = new Sentinel(OLD, 1);
		SentinelWatch watch = watch(sentinel);
		await().untilAsserted(() -> {
			watch.look();
			assertThat(watch.address()).isEqualTo("127.0.0.1:" + OLD);
		});
		AtomicInteger switchesWhenClosed = new AtomicInteger(-1);
		EmbeddedChannel lent = new Connection(OLD);
		this.channels.add(lent);
		lent.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {

			@Override
			public void close(ChannelHandlerContext ctx, ChannelPromise promise) throws Exception {
				switchesWhenClosed.set(watch.switches());
				super.close(ctx, promise);
			}

		});
		sentinel.master = NEW;
		await().untilAsserted(() -> {
			watch.look();
			assertThat(watch.switches()).isOne();
		});
		assertThat(switchesWhenClosed.get()).as("the switches while the old connection was open").isZero();
		watch.stop();
	}

	@Test
	void theWatchEndsBeforeItsClientAndAsksNobodyThen() throws Exception {
		Sentinel sentinel = new Sentinel(OLD, 1);
		SentinelWatch watch = watch(sentinel);
		await().untilAsserted(() -> {
			watch.look();
			assertThat(sentinel.answers.get()).isPositive();
		});
		assertThat(watch.getPhase()).isGreaterThan(new LettuceConnectionFactory().getPhase());
		watch.stop();
		sentinel.master = NEW;
		watch.look();
		assertThat(watch.isRunning()).isFalse();
		assertThat(watch.address()).isEqualTo("127.0.0.1:" + OLD);
	}

	@Test
	void theWatchGoesOnAfterAPauseOfTheService() throws Exception {
		Sentinel sentinel = new Sentinel(OLD, 1);
		SentinelWatch watch = watch(sentinel);
		watch.start();
		watch.stop();
		watch.start();
		assertThat(watch.isRunning()).isTrue();
		await().until(() -> watch.address().equals("127.0.0.1:" + OLD));
		watch.stop();
		assertThat(watch.isRunning()).isFalse();
	}

	private SentinelWatch watch(Sentinel... sentinels) {
		this.sentinels.addAll(List.of(sentinels));
		return new SentinelWatch("mymaster",
				Arrays.stream(sentinels)
					.map((sentinel) -> new SentinelLink(() -> this.client,
							RedisURI.create("127.0.0.1", sentinel.listening.getLocalPort()), "mymaster",
							Duration.ofSeconds(20)))
					.toList(),
				this.channels);
	}

	private static InetSocketAddress address(int port) {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
	}

	/** A connection to a server. */
	private static final class Connection extends EmbeddedChannel {

		private final int port;

		Connection(int port) {
			this.port = port;
		}

		@Override
		public SocketAddress remoteAddress() {
			return address(this.port);
		}

	}

	/** Answers as Sentinels do, with a master and an epoch. */
	private static final class Sentinel {

		private final ServerSocket listening = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());

		private final AtomicInteger answers = new AtomicInteger();

		private volatile int master;

		private final int epoch;

		Sentinel(int master, int epoch) throws IOException {
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
			}
		}

		private String answer(List<String> words) {
			if (words.get(0).equals("hello")) {
				return "-ERR unknown command\r\n";
			}
			if (words.contains("get-master-addr-by-name")) {
				this.answers.incrementAndGet();
				return array("127.0.0.1", String.valueOf(this.master));
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
