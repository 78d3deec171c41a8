package io.pipeset.lane;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.flush.FlushPolicy;
import io.pipeset.report.Account;
import io.pipeset.report.Counts;
import io.pipeset.report.Ending.Cause;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobMeters;
import io.pipeset.report.Results;
import io.pipeset.servers.RedisNodes;
import io.pipeset.servers.SlotsAtNode;
import io.pipeset.slab.FilledSlabs;
import io.pipeset.slab.Loss;
import io.pipeset.slab.Slab;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/** A lane follows each redirection in the way that suits it. */
class RedirectionTests {

	private static final int ROUNDS = 2000;

	private static final PipelineProperties properties = new PipelineProperties(1, 100, DataSize.ofMegabytes(1),
			Duration.ofSeconds(1), false);

	/** With a pause in each round they would take minutes. */
	@Test
	@Timeout(60)
	void anotherNodeIsAskedAtOnceHoweverOftenTheSlotWasRedirected() {
		LettuceConnectionFactory unused = new LettuceConnectionFactory();
		unused.afterPropertiesSet();
		try (RedisNode one = new RedisNode("h:1", unused, properties);
				RedisNode other = new RedisNode("h:2", unused, properties)) {
			RedisNodes nodes = cluster(other);
			LaneContext context = context(nodes);
			Destinations destinations = new Destinations(nodes, one);
			Redirection redirection = new Redirection(context, destinations);
			Slab slab = new FilledSlabs().slab("LPUSH a 1");
			for (int round = 0; round < ROUNDS; round++) {
				FilledSlabs.written(slab, ((round > 0) ? FilledSlabs.OK : "") + "-ASK 15495 h:2\r\n");
				redirection.mark(List.of(slab), one, false, false);
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
	void aRedirectedCommandOfAJobThatWasStoppedHasCertainlyNotRun() {
		LettuceConnectionFactory unused = new LettuceConnectionFactory();
		unused.afterPropertiesSet();
		try (RedisNode one = new RedisNode("h:1", unused, properties);
				RedisNode other = new RedisNode("h:2", unused, properties)) {
			RedisNodes nodes = cluster(other);
			LaneContext context = context(nodes);
			Redirection redirection = new Redirection(context, new Destinations(nodes, one));
			Slab slab = new FilledSlabs().slab("SET n 1", "LPUSH a 1");
			FilledSlabs.written(slab, FilledSlabs.OK + "-ASK 15495 h:2\r\n");
			context.stop().because(Cause.CANCELLED, "by a test");
			redirection.mark(List.of(slab), one, false, false);
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

	/** A node that does not answer takes the time of a call each time. */
	@Test
	void aNodeIsAskedOnceWhateverTheNumberOfScriptsThatItRefused() {
		assertThat(connectionsFor(50)).isPositive().isEqualTo(connectionsFor(1));
	}

	/**
	 * How often a lane asks for a connection to a node that has refused scripts and then
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
			LaneContext context = context(cluster(node));
			Slab slab = new FilledSlabs()
				.slab(Collections.nCopies(scripts, "EVALSHA " + FilledSlabs.SHA + " 1 a").toArray(String[]::new));
			FilledSlabs.written(slab, "$1\r\nx\r\n" + "-CLUSTERDOWN The cluster is down\r\n".repeat(scripts));
			new Redirection(context, new Destinations(cluster(node), node)).mark(List.of(slab), node, false, false);
			slab.settle(context.account(), null);
			assertThat(context.account().counts()).isEqualTo(new Counts(scripts, 0, 0, scripts, 0, 0));
		}
		finally {
			ended.destroy();
		}
		return connections.get();
	}

	private static RedisNodes cluster(RedisNode target) {
		return (RedisNodes) Proxy.newProxyInstance(RedisNodes.class.getClassLoader(),
				new Class<?>[] { RedisNodes.class }, (proxy, method, arguments) -> switch (method.getName()) {
					case "isCluster" -> true;
					case "target" -> target;
					case "slotsAt" -> SlotsAtNode.ALL;
					case "refreshSoon" -> null;
					default -> throw new UnsupportedOperationException(method.getName());
				});
	}

	private static LaneContext context(RedisNodes nodes) {
		return new LaneContext(
				new LaneSettings(10, FlushPolicy.each(), 1, Duration.ofHours(1), 0, 0, Duration.ofSeconds(1), false,
						true),
				new Account(Results.ERRORS, 10, false), new JobClock(), new JobStop(), new Retries(0),
				new InFlightBytes(1 << 20, new SimpleMeterRegistry()), nodes, properties,
				new JobMeters(new SimpleMeterRegistry()), Observation.NOOP, null, null, new UnlimitedSlabMemory(),
				() -> {
				});
	}

}
