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
 * Creates the connection factories of single nodes. They are ordinary pools with the
 * client resources, options, credentials and database of the factory for the cluster or
 * for Sentinel.
 */
final class NodeFactories {

	private final LettuceConnectionFactory template;

	private final PipelineProperties properties;

	private final Map<RedisNode, LettuceConnectionFactory> open = new HashMap<>();

	NodeFactories(LettuceConnectionFactory template, PipelineProperties properties) {
		this.template = template;
		this.properties = properties;
	}

	/** The database of all connections. */
	int database() {
		return this.template.getDatabase();
	}

	/** Creates a node of a cluster. It opens no connection before one is needed. */
	RedisNode open(String host, int port) {
		return open(host, port, 0, null);
	}

	/**
	 * Creates a node that another server may replace.
	 * @param failovers how many failovers there were before this server became master
	 * @param masterCheck checks whether another server has become master
	 */
	RedisNode open(String host, int port, int failovers, @Nullable Runnable masterCheck) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(host, port);
		WithAuthentication configuration = (this.template.isClusterAware()) ? this.template.getClusterConfiguration()
				: this.template.getSentinelConfiguration();
		if (configuration != null) {
			server.setUsername(configuration.getUsername());
			server.setPassword(configuration.getPassword());
		}
		server.setDatabase(this.template.getDatabase());
		LettuceConnectionFactory factory = new LettuceConnectionFactory(server, this.template.getClientConfiguration());
		factory.setShareNativeConnection(false);
		factory.afterPropertiesSet();
		RedisNode node = new RedisNode(host + ":" + port, factory, this.properties, failovers, masterCheck);
		factory.start();
		this.open.put(node, factory);
		return node;
	}

	/** Closes a node and its connections. */
	void close(RedisNode node) {
		node.close();
		@Nullable LettuceConnectionFactory factory = this.open.remove(node);
		if (factory != null) {
			factory.destroy();
		}
	}

}
