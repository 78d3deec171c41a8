package io.pipeset.start;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.OwnThread;
import io.pipeset.PipesetApplication;
import io.pipeset.record.format.RecordFormat;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestCluster;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.availability.ApplicationAvailability;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/** The service runs jobs before it is ready, and removes all traces afterwards. */
@ExtendWith(OutputCaptureExtension.class)
class WarmUpTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start().as("service");

	private static final RedisCommands<String, String> redis = own.redis().client();

	private static final String WARM = "--pipeset.warm-up.enabled=true";

	private static final String OWN_KEYS = "pipeset:warm-up:*";

	private final CompletableFuture<WebServerInitializedEvent> started = new CompletableFuture<>();

	private final Queue<Object> readiness = new ConcurrentLinkedQueue<>();

	@BeforeEach
	void emptyRedis() {
		own.permitAll();
		redis.flushall();
	}

	@Test
	void aReadyServiceHasWarmedUpAndLeavesNoTrace(CapturedOutput output) throws Exception {
		try (ConfigurableApplicationContext context = start(WARM, "--pipeset.warm-up.time=500ms")) {
			assertThat(call("GET", "/actuator/health/readiness")).isEqualTo(200);
			assertThat(output).containsPattern("Warmed up in \\d+ ms with [1-9]\\d* jobs\n")
				.doesNotContain("received=");
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			for (String meter : List.of("pipeset.job", "pipeset.records", "pipeset.batch", "pipeset.retries")) {
				assertThat(registry.find(meter).meters()).as(meter).isEmpty();
			}
			assertThat(registry.get("pipeset.commands").counter().count()).isZero();
			assertThat(registry.get("pipeset.batch.size").summary().count()).isZero();
			assertThat(redis.dbsize()).isZero();
		}
	}

	@Test
	void aServiceServesCallersAndStopsAtOnceDuringItsWarmUp(CapturedOutput output) throws Exception {
		CompletableFuture<ConfigurableApplicationContext> run = OwnThread
			.supply(() -> start(WARM, "--pipeset.warm-up.time=30s"));
		this.started.get(60, TimeUnit.SECONDS);
		await().until(() -> !redis.keys(OWN_KEYS).isEmpty());
		assertThat(call("GET", "/actuator/health/liveness")).isEqualTo(200);
		assertThat(call("GET", "/actuator/health/readiness")).isEqualTo(503);
		assertThat(call("POST", "/pipeset/5")).isEqualTo(200);
		assertThat(redis.exists("keyA00000", "keyA00004")).isEqualTo(2);
		((ConfigurableApplicationContext) this.started.join().getApplicationContext()).close();
		assertThat(run).succeedsWithin(Duration.ofSeconds(60));
		assertThat(this.readiness).doesNotContain(ReadinessState.ACCEPTING_TRAFFIC);
		assertThat(output).doesNotContain("Ready. Try").doesNotContain("Application run failed");
		for (String key : redis.keys(OWN_KEYS)) {
			assertThat(redis.ttl(key)).as("the time that %s is still there", key).isNotEqualTo(-1);
		}
	}

	@Test
	void aServiceWithoutRedisStartsCold(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start(WARM, "--spring.data.redis.port=1")) {
			assertThat(output).contains("No warm-up: No connection to Redis at ");
			assertThat(context.getBean(ApplicationAvailability.class).getReadinessState())
				.isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
		}
	}

	@Test
	void aUserWithoutRightsOnItsKeysWarmsUpWithDryRuns(CapturedOutput output) {
		own.permit(AclSetuserArgs.Builder.reset().keyPattern("app:*").allCommands());
		assertWarmsUpWithDryRuns(output);
	}

	@Test
	void aUserWithoutRightToExpireLeavesNoKeys(CapturedOutput output) {
		own.forbid(CommandType.EXPIRE);
		assertWarmsUpWithDryRuns(output);
	}

	private void assertWarmsUpWithDryRuns(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start(WARM, "--pipeset.warm-up.time=100ms")) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output).containsPattern(
					"Warmed up in .* with [1-9]\\d* jobs, none of which went to Redis: it refuses SET, EXPIRE or DEL of keys");
			assertThat(redis.dbsize()).isZero();
		}
	}

	/** A rejected record would not warm the service up, and the log would not show it. */
	@Test
	void everyRecordOfEachFormatRuns() {
		try (ConfigurableApplicationContext context = start()) {
			WarmUp warmUp = context.getBean(WarmUp.class);
			for (RecordFormat format : RecordFormat.values()) {
				assertThat(warmUp.run(format, warmUp.body(format), false).report()).as(format.label())
					.satisfies((report) -> {
						assertThat(report.counts().received()).isGreaterThan(0);
						assertThat(report.errorCount()).isZero();
					});
				assertThat(redis.keys("*")).as(format.label())
					.isNotEmpty()
					.allMatch((key) -> key.startsWith("pipeset:warm-up:") && redis.ttl(key) != -1);
				redis.flushall();
			}
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "-PT1S", "PT30.001S" })
	void aTimeOutOfBoundsIsRefused(Duration time) {
		assertThatIllegalArgumentException().isThrownBy(() -> new WarmUpProperties(true, time))
			.withMessageStartingWith("pipeset.warm-up.time must be from 0s to 30s");
	}

	@Test
	void theWarmUpOfAClusterLeavesNoTrace(CapturedOutput output) {
		TestCluster cluster = TestCluster.shared();
		cluster.reset();
		List<String> arguments = new ArrayList<>(
				List.of(WARM, "--pipeset.warm-up.time=300ms", "--server.port=0", "--logging.level.io.pipeset=info"));
		cluster.properties().forEach((name, value) -> arguments.add("--" + name + "=" + value));
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(PipesetApplication.class)
			.run(arguments.toArray(String[]::new))) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output).containsPattern("Warmed up in \\d+ ms with [1-9]\\d* jobs\n")
				.contains("Redis Cluster with 3 masters: ");
			assertThat(cluster.nodes()).allSatisfy((node) -> assertThat(node.client().dbsize()).isZero());
		}
	}

	private ConfigurableApplicationContext start(String... arguments) {
		Stream<String> server = own.properties()
			.entrySet()
			.stream()
			.map((property) -> "--" + property.getKey() + "=" + property.getValue())
			.filter((property) -> Stream.of(arguments)
				.noneMatch((argument) -> argument.startsWith(property.replaceAll("=.*", "="))));
		ApplicationListener<WebServerInitializedEvent> port = this.started::complete;
		ApplicationListener<AvailabilityChangeEvent<?>> state = (event) -> this.readiness.add(event.getState());
		return new SpringApplicationBuilder(PipesetApplication.class).initializers((context) -> {
			context.addApplicationListener(port);
			context.addApplicationListener(state);
		})
			.run(Stream
				.concat(server,
						Stream.concat(Stream.of("--server.port=0", "--logging.level.io.pipeset=info"),
								Stream.of(arguments)))
				.toArray(String[]::new));
	}

	/** The status of the answer to a request without a body. */
	private int call(String method, String path) throws IOException {
		HttpURLConnection connection = (HttpURLConnection) URI
			.create("http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":"
					+ this.started.join().getWebServer().getPort() + path)
			.toURL()
			.openConnection();
		connection.setRequestMethod(method);
		return connection.getResponseCode();
	}

}
