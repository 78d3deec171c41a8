package io.pipeset.servers;

import java.util.HashMap;
import java.util.Map;

import io.pipeset.pipeline.PipelineProperties;
import io.pipeset.pipeline.RedisNode;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The factories of single nodes: ordinary pools, with the client resources, options and
 * credentials of the cluster's own factory.
 */
final class NodeFactories {

	private final LettuceConnectionFactory cluster;

	private final PipelineProperties properties;

	private final Map<RedisNode, LettuceConnectionFactory> open = new HashMap<>();

	NodeFactories(LettuceConnectionFactory cluster, PipelineProperties properties) {
		this.cluster = cluster;
		this.properties = properties;
	}

	/** Makes a node, which opens no connection before one is needed. */
	RedisNode open(String host, int port) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(host, port);
		RedisClusterConfiguration configuration = this.cluster.getClusterConfiguration();
		if (configuration != null) {
			server.setUsername(configuration.getUsername());
			server.setPassword(configuration.getPassword());
		}
		LettuceConnectionFactory factory = new LettuceConnectionFactory(server, this.cluster.getClientConfiguration());
		factory.setShareNativeConnection(false);
		factory.afterPropertiesSet();
		RedisNode node = new RedisNode(host + ":" + port, factory, this.properties);
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
