package io.pipeset.benchmark.process;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.ClusterKeyword;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClusterClient;

/** Three masters without replicas, each a process of its own. */
public final class RedisCluster implements AutoCloseable {

	private static final int MASTERS = 3;

	private static final int SLOTS = 16384;

	private static final String USER = "benchmark";

	/** Bus ports are below those that the system gives to outgoing connections. */
	private static final int FIRST_BUS_PORT = 20_000;

	private static final int LAST_BUS_PORT = 32_000;

	private static final int MOST_LOOKS = 300;

	private final String password = UUID.randomUUID().toString();

	private final List<RedisServer> masters = new ArrayList<>();

	private RedisCluster() {
	}

	/**
	 * Starts the masters, and waits until they are one cluster.
	 * @return the cluster, to be closed by the caller
	 */
	public static RedisCluster start() {
		RedisCluster cluster = new RedisCluster();
		try {
			cluster.form();
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	private void form() {
		List<Integer> busPorts = new ArrayList<>();
		for (int i = 0; i < MASTERS; i++) {
			int busPort = freeBusPort();
			busPorts.add(busPort);
			this.masters.add(RedisServer.start("cluster-enabled yes", "cluster-config-file nodes.conf",
					"cluster-announce-ip " + Address.HOST, "cluster-port " + busPort,
					"user " + USER + " on >" + this.password + " ~* &* +@all"));
		}
		for (int i = 0; i < MASTERS; i++) {
			try (Jedis jedis = RedisServer.connect(this.masters.get(i).address())) {
				jedis.clusterSetConfigEpoch(i + 1);
				jedis.clusterAddSlotsRange(firstSlot(i), firstSlot(i + 1) - 1);
			}
		}
		try (Jedis first = RedisServer.connect(this.masters.get(0).address())) {
			for (int i = 1; i < MASTERS; i++) {
				first.sendCommand(Command.CLUSTER, ClusterKeyword.MEET.name(), Address.HOST,
						String.valueOf(this.masters.get(i).address().port()), String.valueOf(busPorts.get(i)));
			}
		}
		this.masters.forEach(RedisCluster::awaitFormed);
	}

	private static int firstSlot(int master) {
		return SLOTS * master / MASTERS;
	}

	private static void awaitFormed(RedisServer master) {
		try (Jedis jedis = RedisServer.connect(master.address())) {
			for (int i = 0; i < MOST_LOOKS; i++) {
				String info = jedis.clusterInfo();
				if (info.contains("cluster_state:ok") && info.contains("cluster_size:" + MASTERS)) {
					return;
				}
				Thread.sleep(100);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw new BenchmarkException("The cluster did not form");
	}

	private static int freeBusPort() {
		while (true) {
			int port = ThreadLocalRandom.current().nextInt(FIRST_BUS_PORT, LAST_BUS_PORT);
			try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
				return socket.getLocalPort();
			}
			catch (IOException ex) {
				// Somebody else has it.
			}
		}
	}

	/**
	 * The processes of the masters.
	 * @return their ids
	 */
	public List<Long> pids() {
		return this.masters.stream().map(RedisServer::pid).toList();
	}

	/**
	 * The cluster as Spring Boot reads it.
	 * @return environment variables
	 */
	public Map<String, String> toSpring() {
		return Map.of("SPRING_DATA_REDIS_CLUSTER_NODES",
				nodes().stream().map(HostAndPort::toString).collect(Collectors.joining(",")),
				"SPRING_DATA_REDIS_USERNAME", USER, "SPRING_DATA_REDIS_PASSWORD", this.password);
	}

	/**
	 * Opens a client.
	 * @return Jedis's own, to be closed by the caller
	 */
	public RedisClusterClient connect() {
		return RedisClusterClient.create(nodes(), USER, this.password);
	}

	private Set<HostAndPort> nodes() {
		return this.masters.stream()
			.map((master) -> new HostAndPort(Address.HOST, master.address().port()))
			.collect(Collectors.toSet());
	}

	/** Empties all masters, and waits until that is done. */
	public void flush() {
		this.masters.forEach(RedisServer::flush);
	}

	/**
	 * The number of keys.
	 * @return that of all masters together
	 */
	public long size() {
		return this.masters.stream().mapToLong(RedisServer::size).sum();
	}

	@Override
	public void close() {
		this.masters.forEach(RedisServer::close);
	}

}
