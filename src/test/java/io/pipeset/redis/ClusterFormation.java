package io.pipeset.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

import io.lettuce.core.Range;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;

import static org.awaitility.Awaitility.await;

/** Makes a cluster of single servers, as redis-cli would. */
final class ClusterFormation {

	/** Below the ports that the system gives to outgoing connections. */
	private static final int FIRST_PORT = 20_000;

	private static final int LAST_PORT = 32_000;

	/**
	 * Each process of a build has a share of its own: a node that is down and will be
	 * restarted keeps its port from nobody.
	 */
	private static final int SHARES = 8;

	private static final Set<Integer> ports = ConcurrentHashMap.newKeySet();

	/** Stands in lines for a port that is free, another one at each node. */
	static final String FREE_PORT = "{port}";

	private final TestCluster cluster;

	ClusterFormation(TestCluster cluster) {
		this.cluster = cluster;
	}

	/** Starts a node that belongs to no cluster yet. */
	static TestRedis node(String... configLines) {
		List<String> lines = new ArrayList<>(List.of("cluster-enabled yes", "cluster-config-file nodes.conf",
				"cluster-node-timeout 2000", "cluster-announce-ip 127.0.0.1", "cluster-port " + freePort(),
				"user " + TestCluster.USER + " on >" + TestCluster.PASSWORD + " ~* &* +@all",
				"masteruser " + TestCluster.USER, "masterauth " + TestCluster.PASSWORD, "repl-diskless-sync yes",
				"repl-diskless-sync-delay 0"));
		for (String line : configLines) {
			lines.add((line.contains(FREE_PORT)) ? line.replace(FREE_PORT, Integer.toString(freePort())) : line);
		}
		return TestRedis.embedded(lines.toArray(String[]::new));
	}

	/** Gives the masters their slots, and the replicas their masters. */
	@SuppressWarnings("unchecked") // ranges as varargs
	void form() {
		int epoch = 1;
		for (TestRedis node : this.cluster.nodes().toList()) {
			node.client().clusterSetConfigEpoch(epoch++);
		}
		for (int i = 0; i < this.cluster.masters().size(); i++) {
			this.cluster.masters()
				.get(i)
				.client()
				.clusterAddSlotsRange(Range.create(this.cluster.firstSlot(i), this.cluster.firstSlot(i + 1) - 1));
		}
		RedisCommands<String, String> first = this.cluster.masters().get(0).client();
		this.cluster.nodes().skip(1).forEach((node) -> meet(first, node));
		for (int i = 0; i < this.cluster.replicas().size(); i++) {
			replicate(this.cluster.replicas().get(i), this.cluster.masters().get(i % this.cluster.masters().size()));
		}
	}

	/** The bus has a port of its own, as the usual one may be beyond the last port. */
	private static void meet(RedisCommands<String, String> first, TestRedis node) {
		first.dispatch(CommandType.CLUSTER, new StatusOutput<>(StringCodec.UTF8),
				new CommandArgs<>(StringCodec.UTF8).add("MEET")
					.add("127.0.0.1")
					.add(node.port())
					.add(node.client().configGet("cluster-port").get("cluster-port")));
	}

	private void replicate(TestRedis replica, TestRedis master) {
		await().ignoreExceptionsInstanceOf(RedisCommandExecutionException.class)
			.until(() -> replica.client().clusterReplicate(this.cluster.id(master)).equals("OK"));
	}

	/** A port that nobody else takes, each time another one. */
	static int freePort() {
		while (true) {
			int share = (LAST_PORT - FIRST_PORT) / SHARES;
			int first = FIRST_PORT + share * (Integer.getInteger("test.fork", 0) % SHARES);
			int port = ThreadLocalRandom.current().nextInt(first, first + share);
			if (!ports.add(port)) {
				continue;
			}
			try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
				return socket.getLocalPort();
			}
			catch (BindException ex) {
				// Somebody else has it.
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

}
