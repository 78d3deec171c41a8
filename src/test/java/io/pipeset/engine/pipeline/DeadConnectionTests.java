package io.pipeset.engine.pipeline;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

import io.lettuce.core.KillArgs;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A job copes with pooled connections that have ended unnoticed. Memory checks are off,
 * because their reply would be the first on a job's connection.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "pipeset.pipeline.memory-warnings=false")
class DeadConnectionTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start();

	private static final TestRedis redis = own.redis();

	@LocalServerPort
	private int port;

	@BeforeEach
	void emptyRedis() throws Exception {
		assertThat(post("/pipeset/10?concurrency=4").body()).contains("\"applied\":10");
		redis.client().flushall();
	}

	@AfterEach
	void heal() {
		DelayedEnd.release();
		CloseBeforeWrite.armed = false;
	}

	@Test
	void connectionThatLettuceStillConsidersOpenIsReplaced() throws Exception {
		DelayedEnd.held = true;
		long killed = redis.client().clientKill(KillArgs.Builder.typeNormal().skipme());
		await().until(() -> DelayedEnd.WAITING.size() == killed);
		assertThat(post("/pipeset/100?concurrency=4").body()).contains("\"applied\":100");
		assertThat(redis.client().dbsize()).isEqualTo(100);
	}

	@Test
	void connectionThatIsClosedBeforeTheFirstWriteIsReplaced() throws Exception {
		CloseBeforeWrite.after(0);
		assertThat(post("/pipeset/100").body()).contains("\"applied\":100");
		assertThat(CloseBeforeWrite.armed).isFalse();
		assertThat(redis.client().dbsize()).isEqualTo(100);
	}

	@Test
	void connectionThatIsClosedAfterAnAnsweredSlabEndsTheJobWithoutUnknownRecords() throws Exception {
		CloseBeforeWrite.after(1);
		HttpResponse<String> answer = post("/pipeset/1000?flush=buffered:100");
		assertThat(CloseBeforeWrite.armed).isFalse();
		assertThat(answer.statusCode()).isEqualTo(502);
		assertThat(answer.body()).contains("urn:pipeset:problem:redis-lost", "\"state\":\"failed\"",
				"\"received\":1000", "\"applied\":100", "\"unknown\":0", "\"unprocessed\":900");
		assertThat(redis.client().dbsize()).isEqualTo(100);
	}

	private HttpResponse<String> post(String path) throws Exception {
		return HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + path))
				.POST(HttpRequest.BodyPublishers.noBody())
				.build(), BodyHandlers.ofString());
	}

	/** Adds the faults to every connection. */
	@TestConfiguration
	static class Faults {

		@Bean
		ClientResourcesBuilderCustomizer faults() {
			return (resources) -> resources.nettyCustomizer(new NettyCustomizer() {

				@Override
				public void afterChannelInitialized(Channel channel) {
					ReplyHandler.addTo(channel);
					channel.pipeline().addFirst(new DelayedEnd());
					channel.pipeline().addLast(new CloseBeforeWrite());
				}

			});
		}

	}

	/** Delays Lettuce's notification that a connection has ended. */
	private static final class DelayedEnd extends ChannelInboundHandlerAdapter {

		static final Queue<ChannelHandlerContext> WAITING = new ConcurrentLinkedQueue<>();

		static volatile boolean held;

		static void release() {
			held = false;
			WAITING.forEach(ChannelHandlerContext::fireChannelInactive);
			WAITING.clear();
		}

		@Override
		public void channelInactive(ChannelHandlerContext ctx) throws Exception {
			if (held) {
				WAITING.add(ctx);
			}
			else {
				super.channelInactive(ctx);
			}
		}

	}

	/**
	 * Closes a connection after a number of slabs are answered: after Lettuce has passed
	 * on the next slab, and before it is written.
	 */
	private static final class CloseBeforeWrite extends ChannelDuplexHandler {

		static volatile boolean armed;

		private static volatile int answeredBefore;

		private int slabs;

		private @Nullable ExchangeCommand last;

		/**
		 * Writes the delayed slab. A slab is delayed until the next one comes, so that
		 * both belong to one batch.
		 */
		private @Nullable Supplier<ChannelFuture> held;

		static void after(int answered) {
			answeredBefore = answered;
			armed = true;
		}

		@Override
		public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) throws Exception {
			if (message instanceof ExchangeCommand slab && (armed || !ctx.channel().isActive())) {
				if (this.slabs++ < answeredBefore) {
					this.last = slab;
					this.held = () -> ctx.writeAndFlush(message, promise);
				}
				else {
					if (this.held != null) {
						ChannelFuture unused = this.held.get();
					}
					closeAndWrite(ctx, message, promise);
				}
				return;
			}
			super.write(ctx, message, promise);
		}

		private void closeAndWrite(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
			if (this.last != null && !this.last.isDone()) {
				ctx.executor().execute(() -> closeAndWrite(ctx, message, promise));
				return;
			}
			armed = false;
			ChannelFuture closed = ctx.channel().close();
			assertThat(closed.isDone()).isTrue();
			ChannelFuture unused = ctx.writeAndFlush(message, promise);
		}

	}

}
