package io.pipeset.pipeline;

import java.time.Duration;

import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.pipeset.pipeline.settings.RedisSettings;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientConfigurationBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientOptionsBuilderCustomizer;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration.LettucePoolingClientConfigurationBuilder;
import org.springframework.data.redis.core.RedisTemplate;

/**
 * Turns Boot's Lettuce set-up into that of a bulk loader: connections are pooled, never
 * reconnected behind a job's back, and have a {@link ReplyHandler} each.
 */
@Configuration(proxyBeanMethods = false)
class RedisConfiguration {

	/**
	 * Connections beyond those of jobs, so that health checks, fences and receipts never
	 * wait for a job.
	 */
	private static final int RESERVE = 4;

	private static final JobFlushPolicy FLUSH_POLICY = new JobFlushPolicy();

	@Bean
	static RedisSettings redisSettings(Environment environment) {
		return new RedisSettings(environment);
	}

	@Bean
	static BeanPostProcessor pipelinedConnectionFactory() {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessBeforeInitialization(Object bean, String name) {
				if (bean instanceof LettuceConnectionFactory factory) {
					// A shared connection stays dead after its first drop, since nothing
					// here reconnects.
					factory.setShareNativeConnection(false);
					factory.setPipeliningFlushPolicy(FLUSH_POLICY);
				}
				return bean;
			}

		};
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
	LettuceClientOptionsBuilderCustomizer neverSentTwice(DataRedisProperties redis, PipelineProperties properties) {
		return (options) -> {
			// Reconnecting re-sends what was in flight, and the timer of TimeoutOptions
			// holds every command for the whole timeout.
			options.autoReconnect(false)
				.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
				// A round trip of each handshake, for a reconnecting that is switched
				// off.
				.maintNotificationsConfig(MaintNotificationsConfig.disabled())
				.timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build());
			options.socketOptions(
					SocketOptions.builder().connectTimeout(connectTimeout(redis, properties)).keepAlive(true).build());
		};
	}

	@Bean
	LettuceClientConfigurationBuilderCustomizer pooled(DataRedisProperties redis, PipelineProperties properties) {
		return (builder) -> {
			builder.commandTimeout(patience(redis, properties));
			((LettucePoolingClientConfigurationBuilder) builder).poolConfig(pool(properties));
			builder.redisCredentialsProviderFactory(new ImmediateCredentials());
		};
	}

	private static GenericObjectPoolConfig<StatefulConnection<?, ?>> pool(PipelineProperties properties) {
		GenericObjectPoolConfig<StatefulConnection<?, ?>> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(pooled(properties));
		pool.setMaxIdle(pooled(properties));
		pool.setMaxWait(properties.connectTimeout());
		pool.setTestOnBorrow(true);
		pool.setJmxEnabled(false);
		return pool;
	}

	private static int pooled(PipelineProperties properties) {
		return properties.maxConnections() + RESERVE;
	}

	@Bean
	ConnectionLender connectionLender(LettuceConnectionFactory factory, PipelineProperties properties) {
		RedisTemplate<byte[], byte[]> template = new RedisTemplate<>();
		template.setConnectionFactory(factory);
		// Without the proxy that guards against closing: the callback is our own.
		template.setExposeConnection(true);
		template.afterPropertiesSet();
		return new ConnectionLender(template, FLUSH_POLICY, pooled(properties),
				factory.getHostName() + ":" + factory.getPort());
	}

	@Bean
	Fences fences(ConnectionLender lender, DataRedisProperties redis, PipelineProperties properties) {
		return new Fences(lender, patience(redis, properties));
	}

	@Bean
	Pipelines pipelines(ConnectionLender lender, Fences fences, DataRedisProperties redis,
			PipelineProperties properties) {
		Duration patience = patience(redis, properties);
		return new Pipelines(lender, fences, patience, connectTimeout(redis, properties).plus(patience));
	}

	@Bean
	RedisCalls redisCalls(ConnectionLender lender, DataRedisProperties redis, PipelineProperties properties) {
		// The fences have one of the reserve to themselves.
		return new RedisCalls(lender, patience(redis, properties), RESERVE - 1);
	}

	@Bean
	@ConditionalOnEnabledHealthIndicator("redis")
	RedisHealth redisHealthIndicator(RedisCalls calls) {
		return new RedisHealth(calls);
	}

	/** How long to wait for a single answer, those of a handshake included. */
	private static Duration patience(DataRedisProperties redis, PipelineProperties properties) {
		Duration timeout = redis.getTimeout();
		return (timeout != null && timeout.compareTo(Duration.ZERO) > 0) ? timeout : properties.connectTimeout();
	}

	private static Duration connectTimeout(DataRedisProperties redis, PipelineProperties properties) {
		Duration connectTimeout = redis.getConnectTimeout();
		return (connectTimeout != null) ? connectTimeout : properties.connectTimeout();
	}

}
