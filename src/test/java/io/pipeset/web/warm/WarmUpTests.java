package io.pipeset.web.warm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.net.SocketFactory;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pipeset.OwnThread;
import io.pipeset.PipesetApplication;
import io.pipeset.redis.OwnRedis;
import io.pipeset.redis.TestCluster;
import io.pipeset.web.WarmUpEndpoints;
import io.pipeset.web.warm.LoopbackConnection.Answer;
import org.junit.jupiter.api.BeforeAll;
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

/** The service calls itself before it is ready, and removes all traces afterwards. */
@ExtendWith(OutputCaptureExtension.class)
class WarmUpTests {

	@RegisterExtension
	static final OwnRedis own = OwnRedis.start().as("service");

	private static final RedisCommands<String, String> redis = own.redis().client();

	private static final String WARM = "--pipeset.warm-up.enabled=true";

	private static final String OWN_KEYS = "pipeset:warm-up:*";

	private final CompletableFuture<WebServerInitializedEvent> started = new CompletableFuture<>();

	private final Queue<Object> readiness = new ConcurrentLinkedQueue<>();

	/**
	 * Loads the classes of a job. A busy machine may need more time for that than the
	 * timeout of a warm-up's first request.
	 */
	@BeforeAll
	static void runAJob() {
		WarmUpTests cold = new WarmUpTests();
		ApplicationListener<WebServerInitializedEvent> port = cold.started::complete;
		List<String> arguments = new ArrayList<>(List.of("--server.port=0"));
		own.properties().forEach((name, value) -> arguments.add("--" + name + "=" + value));
		// This context does not log the lines that the tests look for.
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(PipesetApplication.class)
			.initializers((starting) -> starting.addApplicationListener(port))
			.run(arguments.toArray(String[]::new))) {
			assertThat(context.isRunning()).isTrue();
			await().ignoreExceptions().until(() -> cold.call("POST /pipeset/5") == 200);
		}
	}

	@BeforeEach
	void emptyRedis() {
		own.permitAll();
		redis.flushall();
	}

	@Test
	void aReadyServiceHasWarmedUpAndLeavesNoTrace(CapturedOutput output) throws Exception {
		try (ConfigurableApplicationContext context = start(WARM, "--pipeset.warm-up.time=500ms")) {
			assertThat(call("GET /actuator/health/readiness")).isEqualTo(200);
			assertThat(output).containsPattern("Warmed up in \\d+ ms with \\d+ jobs\n").doesNotContain("received=");
			assertThat(ownRequests(context)).isNotEmpty();
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			for (String meter : List.of("pipeset.job", "pipeset.records", "pipeset.batch", "pipeset.retries")) {
				assertThat(registry.find(meter).meters()).as(meter).isEmpty();
			}
			assertThat(registry.get("pipeset.commands").counter().count()).isZero();
			assertThat(registry.get("pipeset.batch.size").summary().count()).isZero();
			await().until(() -> redis.dbsize() == 0);
			assertThat(call("POST " + WarmUpEndpoints.PREFIX + "/v1/jobs")).isEqualTo(404);
		}
	}

	@Test
	void aServiceWithTlsWarmsUpAsWell(CapturedOutput output) {
		try (ConfigurableApplicationContext context = start(WARM, "--pipeset.warm-up.time=100ms",
				"--server.ssl.certificate=classpath:tls/redis.crt",
				"--server.ssl.certificate-private-key=classpath:tls/redis.key")) {
			assertThat(ownRequests(context)).isNotEmpty();
			assertThat(output).containsPattern("Warmed up in \\d+ ms with \\d+ jobs\n");
		}
	}

	@Test
	void aServiceServesCallersAndStopsAtOnceDuringItsWarmUp(CapturedOutput output) throws Exception {
		CompletableFuture<ConfigurableApplicationContext> run = OwnThread
			.supply(() -> start(WARM, "--pipeset.warm-up.time=30s"));
		this.started.get(60, TimeUnit.SECONDS);
		await().until(() -> !redis.keys(OWN_KEYS).isEmpty());
		assertThat(call("GET /actuator/health/liveness")).isEqualTo(200);
		assertThat(call("GET /actuator/health/readiness")).isEqualTo(503);
		assertThat(call("POST /pipeset/5")).isEqualTo(200);
		assertThat(call("POST " + WarmUpEndpoints.PREFIX + "/pipeset/5")).isEqualTo(404);
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
	void aServiceWithoutRedisStartsCold(CapturedOutput output) throws Exception {
		try (ConfigurableApplicationContext context = start(WARM, "--spring.data.redis.port=1")) {
			assertThat(output).contains("No warm-up: its first job was answered 503");
			assertThat(context.getBean(ApplicationAvailability.class).getReadinessState())
				.isEqualTo(ReadinessState.ACCEPTING_TRAFFIC);
		}
	}

	@Test
	void aUserWithoutRightsOnItsKeysWarmsUpWithDryRuns(CapturedOutput output) throws Exception {
		own.permit(AclSetuserArgs.Builder.reset().keyPattern("app:*").allCommands());
		assertWarmsUpWithDryRuns(output);
	}

	@Test
	void aUserWithoutRightToExpireLeavesNoKeys(CapturedOutput output) throws Exception {
		own.forbid(CommandType.EXPIRE);
		assertWarmsUpWithDryRuns(output);
	}

	private void assertWarmsUpWithDryRuns(CapturedOutput output) throws Exception {
		try (ConfigurableApplicationContext context = start(WARM, "--pipeset.warm-up.time=100ms")) {
			assertThat(output)
				.containsPattern("Warmed up in .* none of which went to Redis: it refuses SET, EXPIRE or DEL of keys");
			assertThat(ownRequests(context)).isNotEmpty();
			assertThat(redis.dbsize()).isZero();
		}
	}

	/** A refused request would not warm the service up, and the log would not show it. */
	@Test
	void everyRequestRunsWithAllItsRecords() throws Exception {
		try (ConfigurableApplicationContext context = start("--pipeset.warm-up.enabled=false");
				LoopbackConnection connection = new LoopbackConnection(address(), SocketFactory.getDefault())) {
			assertThat(ownRequests(context)).as("those of a warm-up that is off").isEmpty();
			WarmUpEndpoints calls = context.getBean(WarmUpEndpoints.class);
			WarmUpRequests requests = new WarmUpRequests("", calls.open(), "test");
			assertThat(connection.call(requests.trial())).isEqualTo(new Answer(200, 0));
			assertThat(redis.dbsize()).isZero();
			for (byte[] request : requests.all()) {
				assertThat(connection.call(request)).as(new String(request, StandardCharsets.ISO_8859_1))
					.isEqualTo(new Answer(200, 0));
			}
			assertThat(redis.keys("*")).isNotEmpty()
				.allMatch((key) -> key.startsWith("pipeset:warm-up:test:") && redis.ttl(key) != -1);
			assertThat(connection.call(requests.cleanup())).isEqualTo(new Answer(200, 0));
			assertThat(redis.dbsize()).isZero();
			calls.close();
			assertThat(connection.call(requests.trial()).status()).isEqualTo(404);
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
		List<String> arguments = new ArrayList<>(List.of(WARM, "--pipeset.warm-up.time=300ms", "--server.port=0",
				"--logging.level.io.pipeset=info", "--logging.level.io.pipeset.web=info"));
		cluster.properties().forEach((name, value) -> arguments.add("--" + name + "=" + value));
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(PipesetApplication.class)
			.run(arguments.toArray(String[]::new))) {
			assertThat(context.isRunning()).isTrue();
			assertThat(output).containsPattern("Warmed up in \\d+ ms with \\d+ jobs\n")
				.contains("Redis Cluster with 3 masters: ");
			await().until(() -> cluster.nodes().allMatch((node) -> node.client().dbsize() == 0));
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
			.run(Stream.concat(server, Stream.concat(Stream.of("--server.port=0", "--logging.level.io.pipeset.web=info",
					"--logging.level.io.pipeset.job=info"), Stream.of(arguments)))
				.toArray(String[]::new));
	}

	private InetSocketAddress address() {
		return new InetSocketAddress(InetAddress.getLoopbackAddress(), this.started.join().getWebServer().getPort());
	}

	/** The status of the answer to a request without a body. */
	private int call(String line) throws IOException {
		try (LoopbackConnection connection = new LoopbackConnection(address(), SocketFactory.getDefault())) {
			String head = line + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n" + WarmUpEndpoints.HEADER
					+ ": guess\r\n\r\n";
			return connection.call(head.getBytes(StandardCharsets.US_ASCII)).status();
		}
	}

	private static List<Meter> ownRequests(ConfigurableApplicationContext context) {
		return context.getBean(MeterRegistry.class)
			.find("http.server.requests")
			.meters()
			.stream()
			.filter((meter) -> String.valueOf(meter.getId().getTag("uri")).startsWith(WarmUpEndpoints.PREFIX + "/"))
			.toList();
	}

}
