package io.pipeset.engine.pipeline;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.pipeset.OwnThread;
import io.pipeset.engine.slab.Slab;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** Counts the flushes that really reach the socket, for each job. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "pipeset.defaults.coalesce=off")
class FlushCountTests {

	@LocalServerPort
	private int port;

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry registry) {
		TestRedis.shared().register(registry);
	}

	@BeforeEach
	void forget() {
		Counter.COUNTS.clear();
	}

	@ParameterizedTest
	@CsvSource({ "each, 100, 1000", "buffered:7, 100, 150", "buffered:100, 100, 10", "buffered:500, 100, 10",
			"buffered:500, 1000, 2", "close, 100, 10", "close, 1000, 1", "close, 300, 4" })
	void jobFlushesByItsPolicy(String flush, int batchSize, int flushes) throws Exception {
		assertThat(post("/pipeset/1000?flush=" + flush + "&batchSize=" + batchSize)).contains("\"applied\":1000");
		assertThat(Counter.of("SET")).isEqualTo(new Counter.Count(flushes, 1000));
	}

	@Test
	void concurrentJobsKeepTheirOwnPolicies() throws Exception {
		CompletableFuture<String> each = OwnThread.supply(() -> post("/pipeset/20000?flush=each"));
		CompletableFuture<String> close = OwnThread.supply(() -> post("/pipehset/20000?flush=close&batchSize=2000"));
		CompletableFuture<String> buffered = OwnThread
			.supply(() -> post("/listinput/flushes?count=20000&flush=buffered:50"));
		assertThat(each.get()).contains("\"applied\":20000");
		assertThat(close.get()).contains("\"applied\":20000");
		assertThat(buffered.get()).contains("\"applied\":20000");
		assertThat(Counter.of("SET")).isEqualTo(new Counter.Count(20_000, 20_000));
		assertThat(Counter.of("HSET")).isEqualTo(new Counter.Count(10, 20_000));
		assertThat(Counter.of("LPUSH")).isEqualTo(new Counter.Count(400, 20_000));
	}

	@Test
	void fullSlabIsWrittenWithEveryPolicy() throws Exception {
		post("/pipehset/40000?flush=close&batchSize=100000");
		long bytes = 40_000L
				* "*6\r\n$4\r\nHSET\r\n$10\r\nhashA00000\r\n$2\r\nid\r\n$5\r\n10000\r\n$5\r\nvalue\r\n$11\r\nvalue-00000\r\n"
					.length();
		assertThat(Counter.of("HSET").flushes()).isEqualTo((int) Math.ceil(bytes / (double) Slab.MAX_BYTES));
	}

	private String post(String path) {
		try {
			return HttpClient.newHttpClient()
				.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + path))
					.POST(HttpRequest.BodyPublishers.noBody())
					.build(), BodyHandlers.ofString())
				.body();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Adds the counter to every connection, directly before the socket. */
	@TestConfiguration
	static class Counting {

		@Bean
		ClientResourcesBuilderCustomizer countingHandlers() {
			return (resources) -> resources.nettyCustomizer(new NettyCustomizer() {

				@Override
				public void afterChannelInitialized(Channel channel) {
					ReplyHandler.addTo(channel);
					channel.pipeline().addFirst(new Counter());
				}

			});
		}

	}

	/**
	 * Counts commands by their name, and the flushes that carried at least one of them.
	 */
	private static final class Counter extends ChannelOutboundHandlerAdapter {

		static final ConcurrentMap<String, AtomicInteger> COUNTS = new ConcurrentHashMap<>();

		private String written = "";

		static Count of(String name) {
			return new Count(count("flush " + name).get(), count(name).get());
		}

		private static AtomicInteger count(String name) {
			return COUNTS.computeIfAbsent(name, (key) -> new AtomicInteger());
		}

		@Override
		public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) throws Exception {
			String[] commands = ((ByteBuf) message).toString(java.nio.charset.StandardCharsets.ISO_8859_1)
				.split("(?=\\*\\d+\r\n\\$\\d+\r\n)", -1);
			for (String command : commands) {
				if (!command.isEmpty()) {
					this.written = command.split("\r\n", -1)[2];
					count(this.written).incrementAndGet();
				}
			}
			super.write(ctx, message, promise);
		}

		@Override
		public void flush(ChannelHandlerContext ctx) throws Exception {
			if (!this.written.isEmpty()) {
				count("flush " + this.written).incrementAndGet();
				this.written = "";
			}
			super.flush(ctx);
		}

		/** The flushes and commands that were counted. */
		record Count(int flushes, int commands) {

		}

	}

}
