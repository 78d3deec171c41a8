package io.pipeset.job.control;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.Delay;
import io.pipeset.engine.pipeline.boot.CurrentSslBundle;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.RedisIdentity;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientOptionsBuilderCustomizer;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * The control Redis, on a connection of its own that is shared by all callers, opened
 * when somebody first asks, and opened again by Lettuce when it is lost. Boot sets it up
 * as it does the data's Redis, in an application context of its own, and at once: a start
 * fails over settings that are wrong, and no job does.
 */
public final class ControlRedis implements DisposableBean {

	/** The member of the {@link #state} of a server that evicts. */
	public static final String BEST_EFFORT = "bestEffort";

	/** Its value begins so, and ends with the policy. */
	public static final String POLICY = "maxmemory-policy ";

	private static final Logger logger = LoggerFactory.getLogger(ControlRedis.class);

	/** The settings, under the name by which Boot would make them. */
	private static final String PROPERTIES = "spring.data.redis-" + DataRedisProperties.class.getName();

	private static final Duration RECONNECT = Duration.ofMillis(500);

	private static final long PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

	private static final long PROMISE_NANOS = Duration.ofMinutes(1).toNanos();

	private final DataRedisProperties properties;

	private final boolean named;

	private final RedisIdentity data;

	private final AnnotationConfigApplicationContext context;

	/** Held by the one caller that opens the connection. */
	private final ReentrantLock opening = new ReentrantLock();

	private volatile @Nullable RedisTemplate<String, byte[]> template;

	private volatile @Nullable Failure failure;

	private volatile @Nullable Promise promise;

	ControlRedis(DataRedisProperties properties, SslBundles bundles, boolean named, RedisIdentity data) {
		this.properties = properties;
		this.named = named;
		this.data = data;
		this.context = context(properties, bundles);
	}

	/**
	 * The name of a key, which services of another data's Redis do not use.
	 * @param name what tells it from others of its kind, without colons
	 */
	String key(String kind, String name) {
		return "pipeset:" + kind + ':' + this.data.name() + ':' + name;
	}

	/**
	 * Makes a call. Whoever calls within a second of one that did not reach the server
	 * does not wait for it again.
	 * @throws ControlRedisException if the server is not reached, or refuses
	 */
	<T> T call(Function<RedisTemplate<String, byte[]>, T> call) {
		Failure before = this.failure;
		if (before != null && System.nanoTime() - before.nanos < PAUSE_NANOS) {
			throw before.exception;
		}
		try {
			T answer = call.apply(template());
			this.failure = null;
			return answer;
		}
		catch (DataAccessException | IllegalStateException ex) {
			throw failed(ex);
		}
	}

	private ControlRedisException failed(RuntimeException failure) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		if (cause instanceof RedisCommandExecutionException) {
			return new ControlRedisException("The control Redis at " + address() + " refuses: " + cause.getMessage(),
					failure);
		}
		ControlRedisException exception = new ControlRedisException(
				"The control Redis at " + address() + " cannot be reached: " + cause.getMessage(), failure);
		this.failure = new Failure(exception, System.nanoTime());
		return exception;
	}

	/** Only one caller waits for a server that does not answer its handshake. */
	private RedisTemplate<String, byte[]> template() {
		RedisTemplate<String, byte[]> template = this.template;
		if (template != null) {
			return template;
		}
		this.opening.lock();
		try {
			template = this.template;
			Failure before = this.failure;
			if (template == null && before != null && System.nanoTime() - before.nanos < PAUSE_NANOS) {
				throw before.exception;
			}
			if (template == null) {
				template = open();
				template.execute((RedisCallback<String>) (connection) -> connection.ping());
				this.template = template;
			}
			return template;
		}
		catch (DataAccessException | IllegalStateException ex) {
			throw failed(ex);
		}
		finally {
			this.opening.unlock();
		}
	}

	private RedisTemplate<String, byte[]> open() {
		RedisTemplate<String, byte[]> template = new RedisTemplate<>();
		template.setConnectionFactory(this.context.getBean(RedisConnectionFactory.class));
		template.setKeySerializer(RedisSerializer.string());
		template.setHashKeySerializer(RedisSerializer.string());
		template.setValueSerializer(RedisSerializer.byteArray());
		template.setHashValueSerializer(RedisSerializer.byteArray());
		template.afterPropertiesSet();
		return template;
	}

	private static AnnotationConfigApplicationContext context(DataRedisProperties properties, SslBundles bundles) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.setDisplayName(ControlConfiguration.PREFIX);
		// Without any source of properties: those of the data's Redis are not meant.
		context.setEnvironment(new StandardEnvironment(new MutablePropertySources()) {

			@Override
			protected void customizePropertySources(MutablePropertySources sources) {
			}

		});
		context.setClassLoader(ControlRedis.class.getClassLoader());
		context.registerBean(PROPERTIES, DataRedisProperties.class, () -> properties);
		context.registerBean(SslBundles.class, () -> bundles);
		context.registerBean(LettuceClientOptionsBuilderCustomizer.class, () -> ControlRedis::customize);
		context.registerBean(CurrentSslBundle.class, () -> new CurrentSslBundle(properties, bundles));
		context.registerBean(ClientResourcesBuilderCustomizer.class,
				() -> (resources) -> resources.commandLatencyRecorder(CommandLatencyRecorder.disabled())
					.reconnectDelay(Delay.constant(RECONNECT))
					.ioThreadPoolSize(2)
					.computationThreadPoolSize(2));
		context.register(DataRedisAutoConfiguration.class);
		context.refresh();
		return context;
	}

	/** Nobody waits for a server that is known to be away. */
	private static void customize(ClientOptions.Builder options) {
		options.autoReconnect(true).disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS);
	}

	/**
	 * Whether it is another Redis than the data's.
	 * @return {@code false} if its settings name no server
	 */
	public boolean isNamed() {
		return this.named;
	}

	/**
	 * The server, or some of them, for messages.
	 * @return hosts with their ports
	 */
	public String address() {
		DataRedisProperties.Cluster cluster = this.properties.getCluster();
		if (cluster != null) {
			return String.join(", ", Objects.requireNonNull(cluster.getNodes()));
		}
		DataRedisProperties.Sentinel sentinel = this.properties.getSentinel();
		if (sentinel != null) {
			return sentinel.getMaster() + " of the Sentinels at "
					+ String.join(", ", Objects.requireNonNull(sentinel.getNodes()));
		}
		String url = this.properties.getUrl();
		// A URL may hold a password.
		return (url != null) ? url.replaceFirst("^[^/]*//(.*@)?", "").replaceFirst("[/?#].*", "")
				: this.properties.getHost() + ':' + this.properties.getPort();
	}

	/**
	 * Asks the server how safe that is which is kept there, once a minute at most, and
	 * logs what may be lost.
	 * @throws ControlRedisException if the server is not reached
	 */
	public Promise promise() {
		Promise known = this.promise;
		if (known != null && System.nanoTime() - known.nanos < PROMISE_NANOS) {
			return known;
		}
		Map<Object, Object> info = call((template) -> template.execute(ControlRedis::info));
		String evicting = values(info, "maxmemory_policy").filter((policy) -> !policy.equals("noeviction"))
			.findFirst()
			.orElse(null);
		Promise asked = new Promise(evicting, values(info, "aof_enabled").anyMatch("0"::equals), System.nanoTime());
		if (evicting != null && (known == null || !evicting.equals(known.evicting))) {
			logger.warn("{}", bestEffort(evicting));
		}
		if (asked.forgets && (known == null || !known.forgets)) {
			logger
				.warn("The control Redis at {} does not log its writes (appendonly no). If it is started again, records"
						+ " of jobs and idempotency keys since its last snapshot are gone, or all of them, and a repeat may run"
						+ " a second time. Use appendonly yes, or name another Redis by pipeset.control.*", address());
		}
		this.promise = asked;
		return asked;
	}

	/** In a cluster, the name of each begins with its node. */
	private static Stream<String> values(Map<Object, Object> info, String name) {
		return info.entrySet()
			.stream()
			.filter((entry) -> String.valueOf(entry.getKey()).endsWith(name))
			.map((entry) -> String.valueOf(entry.getValue()));
	}

	private String bestEffort(String evicting) {
		return "The control Redis at " + address() + " evicts keys when its memory is full (" + POLICY + evicting
				+ "): records of jobs and idempotency keys are best effort. Use noeviction, or name another Redis by pipeset.control.*";
	}

	/**
	 * Says that nothing is promised of records.
	 * @return nothing if the server evicts nothing, or does not say so now
	 */
	public List<Warning> warnings() {
		try {
			String evicting = promise().evicting;
			return (evicting != null) ? List.of(new Warning("BEST_EFFORT", null, bestEffort(evicting), null))
					: List.of();
		}
		catch (ControlRedisException ex) {
			return List.of();
		}
	}

	/**
	 * The state, for Actuator. Only a server that is named is asked, if nobody has for a
	 * minute.
	 */
	public Map<String, Object> state() {
		Promise known = this.promise;
		try {
			known = (this.named) ? promise() : known;
		}
		catch (ControlRedisException ex) {
			logger.debug("The state says so", ex);
		}
		Map<String, Object> state = new LinkedHashMap<>();
		state.put("address", address());
		state.put("state", (this.failure != null) ? "down" : (this.template != null) ? "up" : "unused");
		if (known != null && known.evicting != null) {
			state.put(BEST_EFFORT, POLICY + known.evicting);
		}
		if (known != null && known.forgets) {
			state.put("forgetsAtRestart", "appendonly no");
		}
		return state;
	}

	@Override
	public void destroy() {
		this.opening.lock();
		try {
			this.context.close();
		}
		finally {
			this.opening.unlock();
		}
	}

	private static Map<Object, Object> info(RedisConnection connection) {
		try {
			Properties info = connection.serverCommands().info();
			return (info != null) ? info : Map.of();
		}
		catch (DataAccessException ex) {
			if (NestedExceptionUtils.getMostSpecificCause(ex) instanceof RedisCommandExecutionException) {
				// Not everybody may ask.
				return Map.of();
			}
			throw ex;
		}
	}

	/** A call that did not reach the server, and when. */
	private record Failure(ControlRedisException exception, long nanos) {

	}

	/**
	 * How safe that is which is kept in the control Redis.
	 *
	 * @param evicting the eviction policy, if it may cost keys; {@code null} if nothing
	 * is evicted, or the server does not say
	 * @param forgets whether a restart may lose what was written last
	 */
	public record Promise(@Nullable String evicting, boolean forgets, long nanos) {

	}

}
