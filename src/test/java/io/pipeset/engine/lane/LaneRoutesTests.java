package io.pipeset.engine.lane;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.Topology;
import io.pipeset.report.Account;
import io.pipeset.report.JobClock;
import io.pipeset.report.Results;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/** A record goes to a lane of its slot's master. The first such record opens the lane. */
class LaneRoutesTests {

	private final PipelineProperties properties = new PipelineProperties(1, 100, DataSize.ofMegabytes(1),
			Duration.ofSeconds(1), false);

	@Test
	void theLanesOfAClusterDivideTheWindow() throws NoConnectionException {
		LettuceConnectionFactory unused = new LettuceConnectionFactory();
		unused.afterPropertiesSet();
		try (RedisNode one = node("one", unused); RedisNode other = node("other", unused)) {
			RedisNodes nodes = cluster(Topology.of((slot) -> (slot % 2 == 0) ? one : other));
			List<LaneContext> opened = new ArrayList<>();
			LaneContext context = context(nodes);
			LaneThreads threads = new LaneThreads(context, () -> {
			});
			LaneRoutes routes = new LaneRoutes(context, (node, shared) -> {
				opened.add(shared);
				return new Lane(threads, shared, node);
			});
			assertThat(routes.areOutdated()).isTrue();
			routes.update();
			assertThat(routes.areOutdated()).isFalse();
			for (int slot = 0; slot < 10; slot++) {
				routes.lane(slot);
			}
			assertThat(routes.openLanes()).hasSize(2);
			assertThat(opened).allSatisfy((shared) -> {
				assertThat(shared.pipeline().windowCommands()).isEqualTo(50);
				assertThat(shared.pipeline().windowBytes()).isEqualTo(DataSize.ofKilobytes(512));
			});
		}
		finally {
			unused.destroy();
		}
	}

	private RedisNode node(String name, LettuceConnectionFactory factory) {
		return new RedisNode(name, factory, this.properties);
	}

	private static RedisNodes cluster(Topology owners) {
		return (RedisNodes) Proxy.newProxyInstance(RedisNodes.class.getClassLoader(),
				new Class<?>[] { RedisNodes.class }, (proxy, method, arguments) -> switch (method.getName()) {
					case "isCluster" -> true;
					case "owners" -> owners;
					default -> throw new UnsupportedOperationException(method.getName());
				});
	}

	private LaneContext context(RedisNodes nodes) {
		return new LaneContext(
				new LaneSettings(1000, FlushPolicy.buffered(1000), 1, Duration.ofSeconds(1), 0, 0,
						Duration.ofSeconds(1), false, true),
				new Account(Results.ERRORS, 10, false), new JobClock(), new JobStop(), new Retries(0),
				new InFlightBytes(1 << 20, new SimpleMeterRegistry()), nodes, this.properties, null, Observation.NOOP,
				null, null, new UnlimitedSlabMemory(), () -> {
				});
	}

}
