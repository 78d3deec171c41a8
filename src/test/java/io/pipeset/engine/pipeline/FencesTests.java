package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.engine.pipeline.Fence.State;
import io.pipeset.engine.pipeline.call.ClientIdentity;
import io.pipeset.engine.pipeline.call.ConnectionLender;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.pipeline.flush.JobFlushPolicy;
import io.pipeset.redis.FaultProxy;
import io.pipeset.redis.FaultProxy.Way;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The thread that confirms fences survives all exceptions. Without it no batch could
 * begin again.
 */
class FencesTests {

	private static final Duration SOON = Duration.ofSeconds(20);

	private final ApplicationContextRunner service = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class))
		.withUserConfiguration(Boot.class)
		.withPropertyValues(TestRedis.shared()
			.properties()
			.entrySet()
			.stream()
			.map((property) -> property.getKey() + "=" + property.getValue())
			.toArray(String[]::new));

	private final Logger log = (Logger) LoggerFactory.getLogger(Fences.class);

	@BeforeEach
	void disableLog() {
		this.log.setLevel(Level.OFF);
	}

	@AfterEach
	void enableLog() {
		this.log.setLevel(null);
	}

	@Test
	void itSurvivesADefect() {
		this.service.run((context) -> {
			BreakingTemplate template = new BreakingTemplate(context.getBean(RedisConnectionFactory.class));
			template.breaks = true;
			Fences fences = new Fences(new ConnectionLender(template, new JobFlushPolicy(), 1, "nowhere:1", null),
					SOON);
			fences.start();
			try {
				Fence fence = fences.raise(lost("nowhere:1"));
				assertThat(fence.await(SOON, false, StopSignal.NEVER)).isEqualTo(State.PENDING);
				template.breaks = false;
				assertThat(fence.await(SOON, true, StopSignal.NEVER)).isEqualTo(State.CONFIRMED);
			}
			finally {
				fences.close();
			}
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 3 })
	void itSurvivesAConnectionFactoryThatIsStopped(int times) {
		this.service.run((context) -> {
			LettuceConnectionFactory factory = context.getBean(LettuceConnectionFactory.class);
			Fences fences = new Fences(lender(factory), SOON);
			fences.start();
			try {
				for (int time = 0; time < times; time++) {
					factory.stop();
					Fence fence = fences.raise(lost(address(factory)));
					assertThat(fence.await(SOON, false, StopSignal.NEVER)).isEqualTo(State.PENDING);
					assertThatThrownBy(() -> fences.await(SOON, StopSignal.NEVER))
						.hasMessageStartingWith("No connection to Redis at " + address(factory)
								+ ": commands of a lost connection may still run");
					factory.start();
					assertThat(fence.await(SOON, true, StopSignal.NEVER)).isEqualTo(State.CONFIRMED);
				}
			}
			finally {
				fences.close();
			}
		});
	}

	@Test
	void brokenPooledConnectionsDoNotCountAsAFailure() {
		int idle = 5;
		try (FaultProxy proxy = FaultProxy.open(TestRedis.shared())) {
			this.service.withPropertyValues("spring.data.redis.port=" + proxy.port()).run((context) -> {
				ConnectionLender lender = lender(context.getBean(LettuceConnectionFactory.class));
				Fences fences = new Fences(lender, SOON);
				fences.start();
				try {
					open(idle, lender);
					assertThat(proxy.links()).isEqualTo(idle);
					CompletableFuture<Void> broken = breakNext(idle, proxy);
					Fence fence = fences.raise(lost(lender.address()));
					assertThat(fence.await(SOON, false, StopSignal.NEVER)).isEqualTo(State.CONFIRMED);
					assertThat(broken).isDone();
				}
				finally {
					fences.close();
				}
			});
		}
	}

	/**
	 * The changes of a former master are lost, so no connection needs to be closed there.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aFenceAtAReplacedServerIsConfirmedWithoutClosingAClient(boolean replaced) {
		this.service.run((context) -> {
			LettuceConnectionFactory factory = context.getBean(LettuceConnectionFactory.class);
			Fences fences = new Fences(lender(factory), SOON);
			fences.start();
			RedisClient client = RedisClient.create(TestRedis.shared().uri());
			try {
				long stranger = client.connect().sync().clientId();
				if (replaced) {
					fences.markReplaced();
				}
				Fence fence = fences.raise(new ClientIdentity(address(factory), stranger, null, null));
				assertThat(fence.await(SOON, true, StopSignal.NEVER)).isEqualTo(State.CONFIRMED);
				String clients = TestRedis.shared().client().clientList();
				assertThat(clients.contains("id=" + stranger + " ")).isEqualTo(replaced);
			}
			finally {
				client.shutdown();
				fences.close();
			}
		});
	}

	/** The client ID alone may belong to another client, or to another server. */
	@Test
	void aConnectionOfAnEndedProcessIsNotKilledIfTheServerDoesNotReportItsRunId() {
		TestRedis.shared()
			.client()
			.aclSetuser("uninformed",
					AclSetuserArgs.Builder.on()
						.addPassword("secret")
						.allKeys()
						.allCommands()
						.removeCommand(CommandType.INFO));
		RedisClient client = RedisClient.create(TestRedis.shared().uri());
		try {
			long stranger = client.connect().sync().clientId();
			this.service
				.withPropertyValues("spring.data.redis.username=uninformed", "spring.data.redis.password=secret")
				.run((context) -> {
					Fences fences = new Fences(lender(context.getBean(LettuceConnectionFactory.class)), SOON);
					fences.start();
					try {
						Fence fence = fences.raise(stranger, "another run");
						assertThat(fence.await(SOON, true, StopSignal.NEVER)).isEqualTo(State.REFUSED);
					}
					finally {
						fences.close();
					}
				});
			assertThat(TestRedis.shared().client().clientList()).contains("id=" + stranger + " ");
		}
		finally {
			client.shutdown();
			TestRedis.shared().client().aclDeluser("uninformed");
		}
	}

	/** A connection that no longer exists at the server. */
	private static ClientIdentity lost(String node) {
		return new ClientIdentity(node, 1L << 40, null, null);
	}

	private static ConnectionLender lender(LettuceConnectionFactory factory) {
		return ConnectionLender.of(factory, 20, address(factory), null);
	}

	private static String address(LettuceConnectionFactory factory) {
		return factory.getHostName() + ":" + factory.getPort();
	}

	private static void open(int count, ConnectionLender lender) throws NoConnectionException {
		AtomicReference<NoConnectionException> failure = new AtomicReference<>();
		lender.lend(FlushPolicy.each(), (connection) -> {
			try {
				if (count > 1) {
					open(count - 1, lender);
				}
			}
			catch (NoConnectionException ex) {
				failure.set(ex);
			}
		});
		assertThat(failure.get()).isNull();
	}

	/** Breaks connections one after another, each when a command is sent on it. */
	private static CompletableFuture<Void> breakNext(int count, FaultProxy proxy) {
		return proxy.stopAt(Way.COMMANDS, 0, 0).thenCompose((link) -> {
			link.reset();
			return (count > 1) ? breakNext(count - 1, proxy) : CompletableFuture.completedFuture(null);
		});
	}

	/** The service's own configuration of Redis. */
	@ComponentScan("io.pipeset.engine.pipeline.boot")
	@EnableConfigurationProperties(PipelineProperties.class)
	static class Boot {

	}

	/** A template with a defect. */
	private static final class BreakingTemplate extends RedisTemplate<byte[], byte[]> {

		private volatile boolean breaks;

		BreakingTemplate(RedisConnectionFactory factory) {
			setConnectionFactory(factory);
			setExposeConnection(true);
			afterPropertiesSet();
		}

		@Override
		public List<Object> executePipelined(RedisCallback<?> action) {
			if (this.breaks) {
				throw new StackOverflowError();
			}
			return super.executePipelined(action);
		}

	}

}
