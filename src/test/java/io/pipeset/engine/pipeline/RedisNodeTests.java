package io.pipeset.engine.pipeline;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.PipesetApplication;
import io.pipeset.engine.pipeline.Fence.State;
import io.pipeset.engine.pipeline.call.ClientIdentity;
import io.pipeset.engine.pipeline.call.ConnectionLender;
import io.pipeset.engine.pipeline.call.KeyFilter;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.ScanPage;
import io.pipeset.engine.pipeline.call.ScanPosition;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.slab.Coalescing;
import io.pipeset.redis.OwnRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

/** Two nodes for different servers are independent of each other. */
class RedisNodeTests {

	private static final Duration SOON = Duration.ofSeconds(20);

	private static final Duration SHORT = Duration.ofMillis(300);

	private static final int CONNECTIONS = 2;

	@RegisterExtension
	static final OwnRedis one = OwnRedis.start().as("loader");

	@RegisterExtension
	static final OwnRedis other = OwnRedis.start("rename-command MSET \"\"").as("loader");

	private static ConfigurableApplicationContext service;

	private static LettuceConnectionFactory otherFactory;

	private RedisNode oneNode;

	private RedisNode otherNode;

	@BeforeAll
	static void start() {
		service = new SpringApplicationBuilder(PipesetApplication.class).web(WebApplicationType.NONE)
			.properties("pipeset.pipeline.max-connections=" + CONNECTIONS)
			.properties(Map.<String, Object>copyOf(one.properties()))
			.run();
		otherFactory = factory(other, "loader");
	}

	@BeforeEach
	void open() {
		one.permitAll();
		other.permitAll();
		PipelineProperties properties = service.getBean(PipelineProperties.class);
		this.oneNode = new RedisNode(name(one), oneFactory(), properties);
		this.otherNode = new RedisNode(name(other), otherFactory, properties);
	}

	@AfterEach
	void close() {
		this.oneNode.close();
		this.otherNode.close();
	}

	@AfterAll
	static void end() {
		otherFactory.destroy();
		service.close();
	}

	@Test
	void aBatchWaitsForTheFencesOfItsOwnNodeOnly() throws Exception {
		Fence fence = lose(this.oneNode, one.redis()::pause);
		assertThat(fence.await(SHORT, true, StopSignal.NEVER)).isEqualTo(State.PENDING);
		assertThatExceptionOfType(NoConnectionException.class).isThrownBy(() -> run(this.oneNode, SHORT))
			.withMessageContaining(name(one));
		run(this.otherNode, SOON);
		Fence others = lose(this.otherNode, () -> {
		});
		assertThat(others.await(SOON, true, StopSignal.NEVER)).isEqualTo(State.CONFIRMED);
		assertThat(fence.state()).as("a fence at another server").isEqualTo(State.PENDING);
		one.redis().resume();
		assertThat(fence.await(SOON, true, StopSignal.NEVER)).isEqualTo(State.CONFIRMED);
	}

	@Test
	void aCursorIsInvalidAfterARestartEvenIfTheServerDoesNotReportItsRunId() {
		one.permit(AclSetuserArgs.Builder.removeCommand(CommandType.INFO));
		one.redis().client().clientKill(KillArgs.Builder.typeNormal().skipme());
		fill(one, 500);
		ScanPage first = scan(ScanPosition.START);
		ScanPage second = scan(first.next());
		assertThat(first.isRestarted()).isFalse();
		assertThat(second.isRestarted()).as("on the same connection").isFalse();
		one.redis().restart();
		one.permitAll();
		one.permit(AclSetuserArgs.Builder.removeCommand(CommandType.INFO));
		fill(one, 500);
		assertThat(scan(second.next()).isRestarted()).isTrue();
	}

	private ScanPage scan(ScanPosition position) {
		return this.oneNode.calls().scan(position, new KeyFilter("*", null), 10, Long.MAX_VALUE);
	}

	private static void fill(OwnRedis server, int keys) {
		for (int i = 0; i < keys; i++) {
			server.redis().client().set("key" + i, "v");
		}
	}

	@Test
	void aConnectionIsNeverFencedOffAtAnotherNode() throws Exception {
		ClientIdentity lost = identity(oneFactory(), name(one));
		ClientIdentity own = identity(otherFactory, name(other));
		assertThat(lost.runId()).isNotNull().isNotEqualTo(own.runId());
		assertThat(lost.isFromAnotherRun(own)).isFalse();
		assertThat(lost.isFromAnotherRun(new ClientIdentity(lost.node(), 1, own.runId(), null))).isTrue();
		Fences fences = new Fences(ConnectionLender.of(otherFactory, CONNECTIONS, name(other), null), SOON);
		assertThatIllegalArgumentException().isThrownBy(() -> fences.raise(lost)).withMessageContaining(name(one));
		fences.await(SHORT, StopSignal.NEVER);
	}

	/** A batch gets the pooled connection on which a scan ran before. */
	@Test
	void aConnectionIsFencedOffAfterAScan() throws Exception {
		LettuceConnectionFactory factory = factory(one, "loader");
		try (RedisNode node = new RedisNode(name(one), factory, service.getBean(PipelineProperties.class))) {
			node.calls().scan(ScanPosition.START, new KeyFilter("*", null), 10, 1000);
			Fence fence = lose(node, () -> {
			});
			assertThat(fence.await(SOON, true, StopSignal.NEVER)).isEqualTo(State.CONFIRMED);
		}
		finally {
			factory.destroy();
		}
	}

	/** Its connection is one of the reserve, and goes back when the last job ends. */
	@Test
	void theProbeRunsWhileJobsListen() {
		Queue<Long> first = new ConcurrentLinkedQueue<>();
		Queue<Long> second = new ConcurrentLinkedQueue<>();
		LongConsumer firstListener = first::add;
		LongConsumer secondListener = second::add;
		this.oneNode.latency().add(firstListener);
		this.oneNode.latency().add(secondListener);
		await().until(() -> !first.isEmpty() && !second.isEmpty());
		this.oneNode.latency().remove(firstListener);
		this.oneNode.latency().remove(secondListener);
		await().until(() -> Thread.getAllStackTraces().keySet().stream().noneMatch(RedisNodeTests::isProbe));
		second.clear();
		this.oneNode.latency().add(secondListener);
		await().until(() -> !second.isEmpty());
		this.oneNode.latency().remove(secondListener);
	}

	@Test
	void theProbeSurvivesALostConnection() {
		Queue<Long> measured = new ConcurrentLinkedQueue<>();
		this.oneNode.latency().add(measured::add);
		await().until(() -> !measured.isEmpty());
		for (int i = 0; i < 3; i++) {
			one.redis().client().clientKill(KillArgs.Builder.typeNormal().skipme());
			measured.clear();
			await().until(() -> measured.size() > 2);
		}
	}

	private static boolean isProbe(Thread thread) {
		return thread.getName().equals("probe-" + name(one));
	}

	@Test
	void nodesDoNotSharePermits() throws Exception {
		for (int taken = 0; taken < CONNECTIONS; taken++) {
			assertThat(this.oneNode.permits().tryAcquire()).isTrue();
		}
		assertThat(this.oneNode.permits().tryAcquire()).isFalse();
		assertThat(this.otherNode.permits().taken()).isZero();
		assertThat(this.otherNode.permits().tryAcquire()).isTrue();
		this.otherNode.run(FlushPolicy.each(), SOON, StopSignal.NEVER,
				(pipeline) -> assertThat(this.otherNode.permits().taken()).isOne());
		assertThat(this.otherNode.permits().taken()).isZero();
		assertThat(this.oneNode.permits().taken()).isEqualTo(CONNECTIONS);
	}

	@Test
	void aConnectionKnowsTheCoalescedCommandsThatItsUserMayRun() throws Exception {
		assertThat(coalescing(this.oneNode, one)).isEqualTo(ServerGains.of(one.redis()));
		assertThat(coalescing(this.otherNode, other)).as("a server that has renamed MSET")
			.isEqualTo(new Coalescing(false, true));
		one.forbid(CommandType.MSET);
		// A killed connection may still be lent once, with the facts known about it.
		await().until(() -> coalescing(this.oneNode, one).equals(new Coalescing(false, true)));
		one.permit(AclSetuserArgs.Builder.reset().allCommands().keyPattern("app:*"));
		await().until(() -> coalescing(this.oneNode, one).equals(new Coalescing(false, true)));
		one.permitAll();
		one.forbid(CommandType.ACL);
		await().until(() -> coalescing(this.oneNode, one).equals(new Coalescing(false, true)));
	}

	@Test
	void aRefusedCoalescedCommandIsRememberedForTheConnection() throws Exception {
		one.permitAll();
		// A killed connection may still be lent once, with the facts known about it.
		await().until(() -> coalescing(this.oneNode, one).equals(ServerGains.of(one.redis())));
		List<Coalescing> allowed = new ArrayList<>();
		for (int batch = 0; batch < 2; batch++) {
			run(this.oneNode, (pipeline) -> {
				allowed.add(pipeline.coalescing());
				pipeline.allow(new Coalescing(false, true));
			});
		}
		assertThat(allowed).containsExactly(ServerGains.of(one.redis()), new Coalescing(false, true));
	}

	/** The coalesced commands of a new connection. */
	private static Coalescing coalescing(RedisNode node, OwnRedis redis) throws Exception {
		redis.redis().client().clientKill(KillArgs.Builder.typeNormal().skipme());
		AtomicReference<Coalescing> allowed = new AtomicReference<>();
		// The pool may lend a killed connection, for which nothing is known.
		await().until(() -> {
			run(node, (pipeline) -> allowed.set(pipeline.coalescing()));
			return allowed.get() != null;
		});
		return allowed.get();
	}

	private static void run(RedisNode node, Consumer<Pipeline> batch) throws Exception {
		assertThat(node.permits().tryAcquire()).isTrue();
		node.run(FlushPolicy.each(), SOON, StopSignal.NEVER, batch);
	}

	@Test
	void eachNodeHasItsOwnPermissionForTransactions() {
		one.forbid(CommandType.MULTI);
		assertThatExceptionOfType(RedisCallException.class).isThrownBy(this.oneNode.facts()::requireTransactions)
			.withMessageContaining("NOPERM");
		this.otherNode.facts().requireTransactions();
		other.forbid(CommandType.MULTI);
		this.oneNode.facts().transactionsWereRefused();
		assertThatNoException().as("the known permission").isThrownBy(this.otherNode.facts()::requireTransactions);
		this.otherNode.facts().transactionsWereRefused();
		one.permit(AclSetuserArgs.Builder.allCommands());
		this.oneNode.facts().requireTransactions();
		assertThatExceptionOfType(RedisCallException.class).isThrownBy(this.otherNode.facts()::requireTransactions)
			.withMessageContaining("NOPERM");
	}

	@Test
	void jobsShareAMemoryCheckThatIsSentAgainIfItIsLost() throws Exception {
		MemoryCheck check = this.oneNode.memory().begin();
		assertThat(check).isNotNull().isSameAs(this.oneNode.memory().begin());
		run(this.oneNode, (pipeline) -> {
			pipeline.abandon();
			this.oneNode.memory().ask(pipeline);
		});
		assertThat(check.memory()).isNull();
		run(this.oneNode, (pipeline) -> {
			this.oneNode.memory().ask(pipeline);
			await().until(() -> check.memory() != null);
		});
		assertThat(check.memory().runId()).isEqualTo(identity(oneFactory(), name(one)).runId());
		assertThat(check.memory().usedBytes()).isPositive();
		assertThat(check.memory().isLimited()).isFalse();
		// A check is shared for only a second.
		await().untilAsserted(
				() -> assertThat(this.oneNode.memory().end()).isSameAs(this.oneNode.memory().begin().memory()));
	}

	@Test
	void aClosedNodeEndsOnlyItsOwnFences() throws Exception {
		this.oneNode.close();
		Fence fence = lose(this.otherNode, () -> {
		});
		assertThat(fence.await(SOON, true, StopSignal.NEVER)).isEqualTo(State.CONFIRMED);
		fence = lose(this.oneNode, () -> {
		});
		assertThat(fence.await(SHORT, true, StopSignal.NEVER)).isEqualTo(State.PENDING);
	}

	@Test
	void aRejectedLoginIsARefusalThatNamesTheProperty() {
		LettuceConnectionFactory anonymous = factory(one, null);
		try (RedisNode node = new RedisNode(name(one), anonymous, service.getBean(PipelineProperties.class))) {
			assertThatExceptionOfType(NoConnectionException.class).isThrownBy(() -> run(node, SOON))
				.withMessageContainingAll(name(one), "NOAUTH", "spring.data.redis.password")
				.satisfies((ex) -> assertThat(ex.isRefusal()).isTrue());
		}
		finally {
			anonymous.destroy();
		}
	}

	@Test
	void tooManyClientsAreNotARefusal() {
		String most = one.redis().client().configGet("maxclients").get("maxclients");
		one.redis().client().configSet("maxclients", "1");
		LettuceConnectionFactory late = factory(one, "loader");
		try (RedisNode node = new RedisNode(name(one), late, service.getBean(PipelineProperties.class))) {
			assertThatExceptionOfType(NoConnectionException.class).isThrownBy(() -> run(node, SOON))
				.withMessageContaining(name(one))
				.satisfies((ex) -> assertThat(ex.isRefusal()).isFalse());
		}
		finally {
			late.destroy();
			one.redis().client().configSet("maxclients", most);
		}
	}

	/** Loses the connection of a batch, and fences it off. */
	private static Fence lose(RedisNode node, Runnable before) throws NoConnectionException {
		CompletableFuture<Fence> fence = new CompletableFuture<>();
		assertThat(node.permits().tryAcquire()).isTrue();
		node.run(FlushPolicy.each(), SOON, StopSignal.NEVER, (pipeline) -> {
			before.run();
			pipeline.abandon();
			fence.complete(pipeline.fence());
		});
		return fence.join();
	}

	private static void run(RedisNode node, Duration timeout) throws NoConnectionException {
		assertThat(node.permits().tryAcquire()).isTrue();
		node.run(FlushPolicy.each(), timeout, StopSignal.NEVER, (pipeline) -> {
		});
	}

	private static ClientIdentity identity(LettuceConnectionFactory factory, String name) {
		ConnectionLender lender = ConnectionLender.of(factory, CONNECTIONS, name, null);
		return lender.call(SOON, ClientIdentity::of).orElseThrow();
	}

	private static LettuceConnectionFactory factory(OwnRedis redis, @Nullable String user) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(redis.redis().host(),
				redis.redis().port());
		server.setUsername(user);
		server.setPassword((user != null) ? RedisPassword.of(user) : RedisPassword.none());
		LettuceConnectionFactory factory = new LettuceConnectionFactory(server, oneFactory().getClientConfiguration());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static LettuceConnectionFactory oneFactory() {
		return service.getBean(LettuceConnectionFactory.class);
	}

	private static String name(OwnRedis redis) {
		return redis.redis().host() + ":" + redis.redis().port();
	}

}
