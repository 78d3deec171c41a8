package io.pipeset.redis;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;

/**
 * A cluster of two masters that speak TLS, to the service and to each other, that
 * announce names, and that let the service's user do only what a test permits.
 */
public final class SecureCluster implements AutoCloseable {

	private static final String USER = "loader";

	private static final String PASSWORD = "loader-secret";

	private final TestCluster nodes = TestCluster.start(2, 0, "tls-port " + ClusterFormation.FREE_PORT,
			"tls-cert-file " + file("redis.crt"), "tls-key-file " + file("redis.key"),
			"tls-ca-cert-file " + file("redis.crt"), "tls-auth-clients no", "tls-cluster yes", "tls-replication yes",
			"cluster-announce-hostname localhost");

	private SecureCluster() {
	}

	/**
	 * Starts the nodes, which do not know the service's user yet.
	 * @return the cluster, to be closed by the test
	 */
	public static SecureCluster start() {
		return new SecureCluster();
	}

	/**
	 * The nodes, which a test also reaches without TLS.
	 * @return the cluster
	 */
	public TestCluster nodes() {
		return this.nodes;
	}

	/**
	 * Changes the rights of the service's user at every node.
	 * @param rules rules of ACL SETUSER
	 */
	public void permit(String... rules) {
		this.nodes.nodes().forEach((node) -> {
			CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8).add("SETUSER")
				.add(USER)
				.add("on")
				.add(">" + PASSWORD);
			for (String rule : rules) {
				arguments.add(rule);
			}
			node.client().dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments);
		});
	}

	/**
	 * The properties by which Spring Boot uses this cluster.
	 * @return properties of Redis and of the certificate to trust
	 */
	public Map<String, String> properties() {
		return Map.of("spring.data.redis.cluster.nodes",
				this.nodes.nodes().map((node) -> "127.0.0.1:" + tlsPort(node)).collect(Collectors.joining(",")),
				"spring.data.redis.username", USER, "spring.data.redis.password", PASSWORD,
				"spring.data.redis.ssl.bundle", "redis", "spring.ssl.bundle.pem.redis.truststore.certificate",
				"classpath:tls/redis.crt");
	}

	/**
	 * The port of a node for TLS.
	 * @param node one of the nodes
	 * @return the port
	 */
	public static int tlsPort(TestRedis node) {
		return Integer.parseInt(node.client().configGet("tls-port").get("tls-port"));
	}

	private static Path file(String name) {
		try {
			return Path.of(SecureCluster.class.getResource("/tls/" + name).toURI());
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.nodes.close();
	}

}
