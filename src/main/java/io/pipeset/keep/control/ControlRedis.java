package io.pipeset.keep.control;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * The connection to the control Redis, which all callers share. The first call opens it,
 * and Lettuce reconnects it.
 * <p>
 * Spring Boot configures it like the data Redis, in an application context of its own. It
 * does so when the service starts, so that wrong settings fail the start and not a job.
 */
public final class ControlRedis implements DisposableBean {

	/** The member of {@link #state} that a server has if it evicts keys. */
	public static final String BEST_EFFORT = "bestEffort";

	/** The value of that member: this prefix, then the eviction policy. */
	public static final String POLICY = "maxmemory-policy ";

	private static final Logger logger = LoggerFactory.getLogger(ControlRedis.class);

	/** The name that Boot gives the bean. */
	private static final String PROPERTIES = "spring.data.redis-" + DataRedisProperties.class.getName();

	private static final Duration RECONNECT_DELAY = Duration.ofMillis(500);

	/** How long calls fail at once after a call that did not reach the server. */
	private static final long FAIL_FAST_NANOS = Duration.ofSeconds(1).toNanos();

	/** How long {@link #checkStorage} uses the last reply of the server. */
	private static final long STORAGE_NANOS = Duration.ofMinutes(1).toNanos();

	private final DataRedisProperties properties;

	private final boolean named;

	private final RedisIdentity data;

	private final AnnotationConfigApplicationContext context;

	private final ReentrantLock openLock = new ReentrantLock();

	private volatile @Nullable RedisTemplate<String, byte[]> template;

	private volatile @Nullable Failure failure;

	/**
	 * When the server was reached again after a failure, by {@link System#nanoTime};
	 * {@code null} if it never failed.
	 */
	private volatile @Nullable Long backNanos;

	private volatile @Nullable Storage storage;

	ControlRedis(DataRedisProperties properties, SslBundles bundles, boolean named, RedisIdentity data) {
		this.properties = properties;
		this.named = named;
		this.data = data;
		this.context = context(properties, bundles);
	}

	/**
	 * The name of a key. It contains the identity of the data Redis, so services of
	 * another data Redis do not share it.
	 * @param name unique among the keys of this kind, without colons
	 */
	String key(String kind, String name) {
		return "pipeset:" + kind + ':' + this.data.name() + ':' + name;
	}

	/**
	 * Makes a call. For one second after a call that did not reach the server, all calls
	 * fail at once.
	 * @throws ControlRedisException if the server cannot be reached, or refuses the call
	 */
	<T> T call(Function<RedisTemplate<String, byte[]>, T> call) {
		Failure before = this.failure;
		if (before != null && System.nanoTime() - before.nanos < FAIL_FAST_NANOS) {
			throw before.exception;
		}
		try {
			T answer = call.apply(template());
			if (before != null) {
				this.backNanos = System.nanoTime();
			}
			this.failure = null;
			return answer;
		}
		catch (DataAccessException | IllegalStateException ex) {
			throw failed(ex);
		}
	}

	/**
	 * Runs a script on one key.
	 * @return {@code null} if its reply is nil
	 * @throws ControlRedisException if the server cannot be reached, or refuses the call
	 */
	<T> @Nullable T execute(RedisScript<T> script, String key, Object... arguments) {
		return call((template) -> Optional.ofNullable(template.execute(script, List.of(key), arguments))).orElse(null);
	}

	/**
	 * Whether the server was reached again, after a failure, within the last time of this
	 * length. Then it has not heard of live processes.
	 */
	boolean isBackSince(Duration time) {
		Long back = this.backNanos;
		return back != null && System.nanoTime() - back < time.toNanos();
	}

	private ControlRedisException failed(RuntimeException failure) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		if (cause instanceof RedisCommandExecutionException) {
			return new ControlRedisException("The control Redis at " + address() + " refuses: " + cause.getMessage(),
					failure);
		}
		ControlRedisException exception = new ControlRedisException("The control Redis at " + address()
				+ " cannot be reached: " + String.valueOf(cause.getMessage()).replaceFirst("\\.$", ""), failure);
		this.failure = new Failure(exception, System.nanoTime());
		return exception;
	}

	/** Lets one caller at a time wait for the handshake. */
	private RedisTemplate<String, byte[]> template() {
		RedisTemplate<String, byte[]> template = this.template;
		if (template != null) {
			return template;
		}
		this.openLock.lock();
		try {
			template = this.template;
			Failure before = this.failure;
			if (template == null && before != null && System.nanoTime() - before.nanos < FAIL_FAST_NANOS) {
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
			this.openLock.unlock();
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
		// No property sources, because they have the settings of the data Redis.
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
					.reconnectDelay(Delay.constant(RECONNECT_DELAY))
					.ioThreadPoolSize(2)
					.computationThreadPoolSize(2));
		context.register(DataRedisAutoConfiguration.class);
		context.refresh();
		return context;
	}

	/** Calls fail at once while the connection is lost. */
	private static void customize(ClientOptions.Builder options) {
		options.autoReconnect(true).disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS);
	}

	/**
	 * Whether it is another Redis than the data Redis.
	 * @return {@code false} if {@code pipeset.control.*} names no server
	 */
	public boolean isNamed() {
		return this.named;
	}

	/** Whether the connection was needed so far. */
	public boolean isUsed() {
		return this.template != null;
	}

	/**
	 * The address for messages, without credentials.
	 * @return one or more hosts with their ports
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
	 * Queries the server's eviction policy and append-only file, at most once a minute,
	 * and logs a warning if keys may be lost.
	 * @throws ControlRedisException if the server cannot be reached
	 */
	public Storage checkStorage() {
		Storage known = this.storage;
		if (known != null && System.nanoTime() - known.nanos < STORAGE_NANOS) {
			return known;
		}
		Map<Object, Object> info = call((template) -> template.execute(ControlRedis::info));
		String evicting = values(info, "maxmemory_policy").filter((policy) -> !policy.equals("noeviction"))
			.findFirst()
			.orElse(null);
		Storage queried = new Storage(evicting, values(info, "aof_enabled").anyMatch("0"::equals), System.nanoTime());
		if (evicting != null && (known == null || !evicting.equals(known.evicting))) {
			logger.warn("{}", bestEffort(evicting));
		}
		if (queried.forgets && (known == null || !known.forgets)) {
			logger.warn("The control Redis at {} does not log its writes (appendonly no). A restart loses records"
					+ " of jobs and idempotency keys since its last snapshot, or all of them, so that a repeated request may run"
					+ " a second time. Use appendonly yes, or name another Redis by pipeset.control.*", address());
		}
		this.storage = queried;
		return queried;
	}

	/** The values of a field of INFO; in a cluster, that of each node. */
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
	 * Warns the caller if the server may evict records.
	 * @return one warning; an empty list if the server does not evict, or cannot be
	 * queried now
	 */
	public List<Warning> warnings() {
		try {
			String evicting = checkStorage().evicting;
			return (evicting != null) ? List.of(new Warning("BEST_EFFORT", null, bestEffort(evicting), null))
					: List.of();
		}
		catch (ControlRedisException ex) {
			return List.of();
		}
	}

	/**
	 * The state, for Actuator. It queries the server if {@code pipeset.control.*} names
	 * one, at most once a minute.
	 */
	public Map<String, Object> state() {
		Storage known = this.storage;
		try {
			known = (this.named) ? checkStorage() : known;
		}
		catch (ControlRedisException ex) {
			logger.debug("The control Redis cannot be queried for its state", ex);
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
		this.openLock.lock();
		try {
			this.context.close();
		}
		finally {
			this.openLock.unlock();
		}
	}

	private static Map<Object, Object> info(RedisConnection connection) {
		try {
			Properties info = connection.serverCommands().info();
			return (info != null) ? info : Map.of();
		}
		catch (DataAccessException ex) {
			if (NestedExceptionUtils.getMostSpecificCause(ex) instanceof RedisCommandExecutionException) {
				// The user may lack the right to run INFO.
				return Map.of();
			}
			throw ex;
		}
	}

	/** A call that did not reach the server, and its {@link System#nanoTime}. */
	private record Failure(ControlRedisException exception, long nanos) {

	}

	/**
	 * How durable the keys in the control Redis are.
	 *
	 * @param evicting the eviction policy; {@code null} if it is {@code noeviction}, or
	 * the user may not run INFO
	 * @param forgets whether a restart may lose the last writes, because there is no
	 * append-only file
	 * @param nanos when the server was queried, by {@link System#nanoTime}
	 */
	public record Storage(@Nullable String evicting, boolean forgets, long nanos) {

	}

}
