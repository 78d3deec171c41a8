package io.pipeset.engine.lane;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SlotsAtNode;
import io.pipeset.engine.slab.FilledSlabs;
import io.pipeset.engine.slab.Loss;
import io.pipeset.engine.slab.Slab;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import io.pipeset.report.Results;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A lane follows each kind of redirection. */
class RedirectFollowerTests {

	private static final int ROUNDS = 2000;

	private static final PipelineProperties properties = new PipelineProperties(1, 100, DataSize.ofMegabytes(1),
			Duration.ofSeconds(1), false);

	/** With a backoff in each round this would take minutes. */
	@Test
	@Timeout(60)
	void anAskIsFollowedWithoutBackoffInEveryRound() {
		LettuceConnectionFactory unused = new LettuceConnectionFactory();
		unused.afterPropertiesSet();
		try (RedisNode one = new RedisNode("h:1", unused, properties);
				RedisNode other = new RedisNode("h:2", unused, properties)) {
			RedisNodes nodes = cluster(other);
			LaneContext context = context(nodes);
			Destinations destinations = new Destinations(nodes, one);
			RedirectFollower follower = new RedirectFollower(context, destinations);
			Slab slab = new FilledSlabs().slab("LPUSH a 1");
			for (int round = 0; round < ROUNDS; round++) {
				destinations.prepare(slab);
				FilledSlabs.written(slab, ((round > 0) ? FilledSlabs.OK : "") + "-ASK 15495 h:2\r\n");
				follower.mark(List.of(slab), one, false, false);
				slab.settle(context.account(), null);
				slab.retry();
				assertThat(slab.count()).isOne();
			}
		}
		finally {
			unused.destroy();
		}
	}

	@Test
	void aRedirectedCommandOfAStoppedJobHasNotRun() {
		LettuceConnectionFactory unused = new LettuceConnectionFactory();
		unused.afterPropertiesSet();
		try (RedisNode one = new RedisNode("h:1", unused, properties);
				RedisNode other = new RedisNode("h:2", unused, properties)) {
			RedisNodes nodes = cluster(other);
			LaneContext context = context(nodes);
			RedirectFollower follower = new RedirectFollower(context, new Destinations(nodes, one));
			Slab slab = new FilledSlabs().slab("SET n 1", "LPUSH a 1");
			FilledSlabs.written(slab, FilledSlabs.OK + "-ASK 15495 h:2\r\n");
			context.stop().stop(Cause.CANCELLED, "by a test");
			follower.mark(List.of(slab), one, false, false);
			slab.settle(context.account(), null);
			assertThat(slab.retry()).isTrue();
			// A lane sends nothing after a stop.
			slab.settle(context.account(), null);
			assertThat(context.account().counts()).isEqualTo(new Counts(2, 1, 0, 0, 0, 1));
			assertThat(context.account().errorCodes().counts()).containsOnlyKeys(Loss.NOT_SENT);
		}
		finally {
			unused.destroy();
		}
	}

	/**
	 * A script may make up a redirection. It cannot make up that its slot was absent or
	 * migrating.
	 */
	@ParameterizedTest
	@CsvSource({ "MOVED, 7, '', 7, '', false", "MOVED, 7, '', 9, '', true", "ASK, 7, '', 7, '', false",
			"ASK, 7, '', 9, '', true", "ASK, 7, ' [15495->-b]', 7, '', true", "MOVED, 7, ' [15495->-b]', 7, '', false",
			"ASK, 7, '', 7, ' [15495->-b]', true" })
	void aScriptIsResentOnlyIfTheNodeConfirmsTheRedirection(String kind, int epochBefore, String before, int epochAfter,
			String after, boolean again) {
		LettuceConnectionFactory unused = new LettuceConnectionFactory();
		unused.afterPropertiesSet();
		try (RedisNode one = new RedisNode("h:1", unused, properties);
				RedisNode other = new RedisNode("h:2", unused, properties)) {
			List<SlotsAtNode> answers = new ArrayList<>(List.of(at(epochBefore, before), at(epochAfter, after)));
			RedisNodes nodes = cluster(other, () -> answers.remove(0));
			LaneContext context = context(nodes);
			Slab slab = new FilledSlabs().slab("EVALSHA " + FilledSlabs.SHA + " 1 a");
			assertThat(slab.hasScripts()).isTrue();
			RedirectFollower follower = new RedirectFollower(context, new Destinations(nodes, one));
			follower.checkSlots(one);
			FilledSlabs.written(slab, "$1\r\nx\r\n-" + kind + " 15495 h:2\r\n");
			follower.mark(List.of(slab), one, false, false);
			slab.settle(context.account(), null);
			assertThat(slab.retry()).isEqualTo(again);
		}
		finally {
			unused.destroy();
		}
	}

	@Test
	void slotsAreStableForAMomentUnlessOneMoves() {
		LettuceConnectionFactory unused = new LettuceConnectionFactory();
		unused.afterPropertiesSet();
		try (RedisNode one = new RedisNode("h:1", unused, properties);
				RedisNode other = new RedisNode("h:2", unused, properties)) {
			AtomicReference<SlotsAtNode> answer = new AtomicReference<>(at(7, ""));
			RedisNodes nodes = cluster(other, answer::get);
			RedirectFollower follower = new RedirectFollower(context(nodes), new Destinations(nodes, one));
			assertThat(follower.areSlotsStable()).isFalse();
			await().pollInterval(Duration.ofMillis(1)).until(() -> {
				follower.checkSlots(one);
				return follower.areSlotsStable();
			});
			answer.set(at(7, " [5->-b]"));
			await().until(() -> !follower.areSlotsStable());
			follower.checkSlots(other);
			assertThat(follower.areSlotsStable()).isFalse();
			answer.set(at(7, ""));
			follower.checkSlots(one);
			assertThat(follower.areSlotsStable()).isFalse();
		}
		finally {
			unused.destroy();
		}
	}

	/** Otherwise it could run before the earlier command. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "-TRYAGAIN Multiple keys request during rehashing of slot |-ASK 15495 h:2 | DEL {a} a",
					"-ASK 15495 h:2 | -MOVED 15495 h:2 | ASKING,DEL {a} a",
					"-CLUSTERDOWN The cluster is down | -CLUSTERDOWN The cluster is down | DEL {a} a",
					"-MOVED 15495 h:2 | -MOVED 15495 h:2 | DEL {a} a,LPUSH a 1" })
	void commandsGoOneByOneUnlessTheirSlotsHaveMoved(String first, String second, String sent) {
		LettuceConnectionFactory unused = new LettuceConnectionFactory();
		unused.afterPropertiesSet();
		try (RedisNode one = new RedisNode("h:1", unused, properties);
				RedisNode other = new RedisNode("h:2", unused, properties)) {
			RedisNodes nodes = cluster(other);
			LaneContext context = context(nodes);
			Destinations destinations = new Destinations(nodes, one);
			Slab slab = new FilledSlabs().slab("DEL {a} a", "LPUSH a 1");
			FilledSlabs.written(slab, first + "\r\n" + second + "\r\n");
			new RedirectFollower(context, destinations).mark(List.of(slab), one, false, false);
			slab.settle(context.account(), null);
			assertThat(slab.retry()).isTrue();
			assertThat(slab.count()).isEqualTo(2);
			destinations.prepare(slab);
			assertThat(FilledSlabs.next(slab)).isEqualTo(sent);
		}
		finally {
			unused.destroy();
		}
	}

	@Test
	void aRedirectionThatDoesNotEndIsFollowedForTheTimeout() {
		LettuceConnectionFactory unused = new LettuceConnectionFactory();
		unused.afterPropertiesSet();
		try (RedisNode one = new RedisNode("h:1", unused, properties)) {
			RedisNodes nodes = cluster(one);
			LaneContext context = context(nodes, Duration.ofMillis(200));
			RedirectFollower follower = new RedirectFollower(context, new Destinations(nodes, one));
			FilledSlabs slabs = new FilledSlabs();
			Slab slab = slabs.slab("DEL {a} a");
			int rounds = 0;
			do {
				rounds++;
				FilledSlabs.written(slab, "-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
				follower.mark(List.of(slab), one, false, false);
				slab.settle(context.account(), null);
			}
			while (slab.retry());
			assertThat(rounds).isGreaterThan(1);
			assertThat(context.account().counts()).isEqualTo(new Counts(1, 0, 0, 1, 0, 0));
		}
		finally {
			unused.destroy();
		}
	}

	/** Each query of a node that does not answer takes a call's timeout. */
	@Test
	void aNodeIsQueriedOnceForAllScriptsThatItRefused() {
		assertThat(connectionsFor(50)).isPositive().isEqualTo(connectionsFor(1));
	}

	/**
	 * How often a lane requests a connection to a node that has refused scripts and then
	 * ended.
	 */
	private static int connectionsFor(int scripts) {
		AtomicInteger connections = new AtomicInteger();
		LettuceConnectionFactory ended = new LettuceConnectionFactory() {

			@Override
			public RedisConnection getConnection() {
				connections.incrementAndGet();
				throw new RedisConnectionFailureException("Nobody listens there");
			}

		};
		ended.afterPropertiesSet();
		try (RedisNode node = new RedisNode("h:1", ended, properties)) {
			RedisNodes nodes = cluster(node, () -> SlotsAtNode.of(node.calls().clusterNodes()));
			LaneContext context = context(nodes);
			Slab slab = new FilledSlabs()
				.slab(Collections.nCopies(scripts, "EVALSHA " + FilledSlabs.SHA + " 1 a").toArray(String[]::new));
			FilledSlabs.written(slab, "$1\r\nx\r\n" + "-CLUSTERDOWN The cluster is down\r\n".repeat(scripts));
			new RedirectFollower(context, new Destinations(nodes, node)).mark(List.of(slab), node, false, false);
			slab.settle(context.account(), null);
			assertThat(context.account().counts()).isEqualTo(new Counts(scripts, 0, 0, scripts, 0, 0));
		}
		finally {
			ended.destroy();
		}
		return connections.get();
	}

	/** A node with all slots. */
	private static SlotsAtNode at(int epoch, String moves) {
		return SlotsAtNode.of("a h:1@1 myself,master - 0 0 " + epoch + " connected 0-16383" + moves);
	}

	private static RedisNodes cluster(RedisNode target) {
		return cluster(target, () -> SlotsAtNode.ALL);
	}

	private static RedisNodes cluster(RedisNode target, Supplier<SlotsAtNode> slots) {
		return (RedisNodes) Proxy.newProxyInstance(RedisNodes.class.getClassLoader(),
				new Class<?>[] { RedisNodes.class }, (proxy, method, arguments) -> switch (method.getName()) {
					case "isCluster" -> true;
					case "target" -> target;
					case "slotsAt" -> slots.get();
					case "setOwner", "startRefresh" -> null;
					default -> throw new UnsupportedOperationException(method.getName());
				});
	}

	private static LaneContext context(RedisNodes nodes) {
		return context(nodes, Duration.ofHours(1));
	}

	private static LaneContext context(RedisNodes nodes, Duration timeout) {
		return new LaneContext(
				new LaneSettings(10, FlushPolicy.each(), 1, timeout, 0, 0, Duration.ofSeconds(1), false, true),
				new Account(Results.ERRORS, 10, false), new JobClock(), new JobStop(), new Retries(0),
				new InFlightBytes(1 << 20, new SimpleMeterRegistry()), nodes, properties,
				new JobMeters(new SimpleMeterRegistry()), Observation.NOOP, null, null, new UnlimitedSlabMemory(),
				() -> {
				});
	}

}
