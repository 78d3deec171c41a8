package io.pipeset.engine.pipeline.boot;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.ReplyHandler;
import io.pipeset.engine.servers.ClusterNodes;
import io.pipeset.engine.servers.RedisNodes;
import io.pipeset.engine.servers.SentinelLink;
import io.pipeset.engine.servers.SentinelNodes;
import io.pipeset.report.RedisIdentity;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientConfigurationBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientOptionsBuilderCustomizer;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration.LettucePoolingClientConfigurationBuilder;

/**
 * Adapts Boot's Lettuce configuration to bulk loading: connections are pooled, never
 * reconnect automatically, and have a {@link ReplyHandler} each.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(PipelineProperties.class)
class RedisConfiguration {

	@Bean
	static RedisSettings redisSettings(Environment environment) {
		return new RedisSettings(environment, RedisSettings.DATA);
	}

	@Bean
	ClientResourcesBuilderCustomizer replyHandlers() {
		return (resources) -> resources.commandLatencyRecorder(CommandLatencyRecorder.disabled())
			.nettyCustomizer(new NettyCustomizer() {

				@Override
				public void afterChannelInitialized(Channel channel) {
					ReplyHandler.addTo(channel);
				}

			});
	}

	@Bean
	LettuceClientOptionsBuilderCustomizer withoutReconnect(DataRedisProperties redis, PipelineProperties properties) {
		return (options) -> {
			// A reconnect would send commands in flight again. The timer of
			// TimeoutOptions would keep every command until its timeout.
			options.autoReconnect(false)
				.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
				// These cost each handshake a round trip, and serve reconnects only.
				.maintNotificationsConfig(MaintNotificationsConfig.disabled())
				.timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build());
			options.socketOptions(
					SocketOptions.builder().connectTimeout(connectTimeout(redis, properties)).keepAlive(true).build());
		};
	}

	@Bean
	CurrentSslBundle currentSslBundle(DataRedisProperties redis, SslBundles bundles) {
		return new CurrentSslBundle(redis, bundles);
	}

	@Bean
	LettuceClientConfigurationBuilderCustomizer pooled(DataRedisProperties redis, PipelineProperties properties) {
		return (builder) -> {
			builder.commandTimeout(replyTimeout(redis, properties));
			((LettucePoolingClientConfigurationBuilder) builder).poolConfig(pool(properties));
			builder.redisCredentialsProviderFactory(new ImmediateCredentials());
		};
	}

	private static GenericObjectPoolConfig<StatefulConnection<?, ?>> pool(PipelineProperties properties) {
		GenericObjectPoolConfig<StatefulConnection<?, ?>> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(properties.pooledConnections());
		pool.setMaxIdle(properties.pooledConnections());
		pool.setMaxWait(properties.connectTimeout());
		pool.setTestOnBorrow(true);
		pool.setJmxEnabled(false);
		return pool;
	}

	@Bean
	@ConditionalOnProperty("spring.data.redis.sentinel.master")
	SentinelNodes sentinelNodes(LettuceConnectionFactory factory, DataRedisProperties redis,
			PipelineProperties properties) {
		RedisSentinelConfiguration sentinel = Objects.requireNonNull(factory.getSentinelConfiguration());
		Supplier<RedisClient> client = () -> (RedisClient) factory.getRequiredNativeClient();
		Duration replyTimeout = replyTimeout(redis, properties);
		List<SentinelLink> links = sentinel.getSentinels()
			.stream()
			.map((node) -> new SentinelLink(client, uri(factory, sentinel, node, replyTimeout), master(sentinel),
					replyTimeout))
			.toList();
		return new SentinelNodes(master(sentinel), links, factory, properties, replyTimeout);
	}

	@Bean
	@ConditionalOnMissingBean
	RedisNodes redisNodes(LettuceConnectionFactory factory, PipelineProperties properties) {
		return (factory.isClusterAware()) ? new ClusterNodes(factory, properties)
				: RedisNodes.of(new RedisNode(factory.getHostName() + ":" + factory.getPort(), factory, properties));
	}

	@Bean
	RedisIdentity redisIdentity(LettuceConnectionFactory factory) {
		RedisClusterConfiguration cluster = factory.getClusterConfiguration();
		if (cluster != null) {
			return RedisIdentity.of(cluster.getClusterNodes()
				.stream()
				.map((node) -> RedisIdentity.address(Objects.requireNonNull(node.getHost()),
						Objects.requireNonNull(node.getPort()))),
					"cluster");
		}
		RedisSentinelConfiguration sentinel = factory.getSentinelConfiguration();
		String server = (sentinel != null) ? master(sentinel)
				: RedisIdentity.address(factory.getHostName(), factory.getPort());
		return RedisIdentity.of(Stream.of(server), Integer.toString(factory.getDatabase()));
	}

	private static String master(RedisSentinelConfiguration sentinel) {
		return Objects.requireNonNull(Objects.requireNonNull(sentinel.getMaster()).getName());
	}

	private static RedisURI uri(LettuceConnectionFactory factory, RedisSentinelConfiguration sentinel,
			org.springframework.data.redis.connection.RedisNode node, Duration timeout) {
		LettuceClientConfiguration ssl = factory.getClientConfiguration();
		RedisURI.Builder uri = RedisURI.builder()
			.withHost(Objects.requireNonNull(node.getHost()))
			.withPort(Objects.requireNonNull(node.getPort()))
			.withTimeout(timeout)
			.withSsl(ssl.isUseSsl())
			.withVerifyPeer(ssl.getVerifyMode())
			.withStartTls(ssl.isStartTls());
		if (sentinel.getSentinelPassword().isPresent()) {
			String user = sentinel.getSentinelUsername();
			char[] password = sentinel.getSentinelPassword().get();
			uri = (user != null) ? uri.withAuthentication(user, password) : uri.withPassword(password);
		}
		return uri.build();
	}

	@Bean
	@ConditionalOnEnabledHealthIndicator("redis")
	RedisHealth redisHealthIndicator(RedisNodes nodes) {
		return new RedisHealth(nodes);
	}

	/** How long to wait for a single reply, also in a handshake. */
	private static Duration replyTimeout(DataRedisProperties redis, PipelineProperties properties) {
		Duration timeout = redis.getTimeout();
		return (timeout != null && timeout.compareTo(Duration.ZERO) > 0) ? timeout : properties.connectTimeout();
	}

	private static Duration connectTimeout(DataRedisProperties redis, PipelineProperties properties) {
		Duration connectTimeout = redis.getConnectTimeout();
		return (connectTimeout != null) ? connectTimeout : properties.connectTimeout();
	}

}
