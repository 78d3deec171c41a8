package io.pipeset.engine.servers;

import java.util.HashMap;
import java.util.Map;

import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.RedisNode;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConfiguration.WithAuthentication;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The factories of single nodes: ordinary pools, with the client resources, options,
 * credentials and database of the factory for the cluster or for Sentinel.
 */
final class NodeFactories {

	private final LettuceConnectionFactory all;

	private final PipelineProperties properties;

	private final Map<RedisNode, LettuceConnectionFactory> open = new HashMap<>();

	NodeFactories(LettuceConnectionFactory all, PipelineProperties properties) {
		this.all = all;
		this.properties = properties;
	}

	/** The database that all connections are of. */
	int database() {
		return this.all.getDatabase();
	}

	/** Makes a node of a cluster, which opens no connection before one is needed. */
	RedisNode open(String host, int port) {
		return open(host, port, 0, null);
	}

	/**
	 * Makes a node whose place another server may take.
	 * @param failovers how many failovers there were before it became master
	 * @param look finds out if another server has taken its place
	 */
	RedisNode open(String host, int port, int failovers, @Nullable Runnable look) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(host, port);
		WithAuthentication configuration = (this.all.isClusterAware()) ? this.all.getClusterConfiguration()
				: this.all.getSentinelConfiguration();
		if (configuration != null) {
			server.setUsername(configuration.getUsername());
			server.setPassword(configuration.getPassword());
		}
		server.setDatabase(this.all.getDatabase());
		LettuceConnectionFactory factory = new LettuceConnectionFactory(server, this.all.getClientConfiguration());
		factory.setShareNativeConnection(false);
		factory.afterPropertiesSet();
		RedisNode node = new RedisNode(host + ":" + port, factory, this.properties, failovers, look);
		factory.start();
		this.open.put(node, factory);
		return node;
	}

	/** Closes a node with its connections. */
	void close(RedisNode node) {
		node.close();
		@Nullable LettuceConnectionFactory factory = this.open.remove(node);
		if (factory != null) {
			factory.destroy();
		}
	}

}
