package io.pipeset.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.pipeset.report.RedisIdentity;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.test.context.DynamicPropertyRegistry;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The real Redis of a test. {@code PIPESET_TEST_REDIS} (environment or system property)
 * chooses its source: {@code url} (with {@code PIPESET_TEST_REDIS_URL}), {@code docker},
 * {@code embedded}, or {@code auto} for the first of these that works.
 */
public final class TestRedis implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(TestRedis.class);

	/**
	 * The client of all connections for assertions, which are hundreds and wait most of
	 * the time. It ends with the JVM because Lettuce checks each refused connection once
	 * more after a minute, and logs an error if its event loop has ended by then.
	 */
	private static final RedisClient client = RedisClient.create();

	private final RedisServer server;

	private final boolean shared;

	private @Nullable StatefulRedisConnection<String, String> connection;

	private TestRedis(RedisServer server, boolean shared) {
		this.server = server;
		this.shared = shared;
	}

	/**
	 * The server that all tests of this JVM share. It is started when it is first asked
	 * for, and ends with the JVM. A test that needs it empty flushes it.
	 * @return the shared server
	 * @throws IllegalStateException if the chosen source does not work; its message says
	 * why
	 */
	public static TestRedis shared() {
		return Shared.redis();
	}

	/**
	 * Starts a further server, which a test may configure, kill and pause.
	 * @param configLines lines for redis.conf such as {@code maxmemory 2mb}
	 * @return the server, to be closed by the test
	 * @throws RuntimeException if it does not start
	 */
	public static TestRedis start(String... configLines) {
		return new TestRedis(Shared.source().start(configLines), false);
	}

	/** Starts a further server from the carried executable, whatever the source. */
	static TestRedis embedded(String... configLines) {
		return new TestRedis(EmbeddedServer.start(configLines), false);
	}

	/**
	 * The server's address, with its credentials and a timeout of a minute.
	 * @return a new object each time
	 */
	public RedisURI uri() {
		return RedisURI.builder(this.server.uri()).withTimeout(Duration.ofMinutes(1)).build();
	}

	/**
	 * The host that the server listens on.
	 * @return a name or an address
	 */
	public String host() {
		return this.server.uri().getHost();
	}

	/**
	 * The port that the server listens on, which stays the same over restarts.
	 * @return the port
	 */
	public int port() {
		return this.server.uri().getPort();
	}

	/**
	 * The password.
	 * @return the password, or {@code null} if the server needs none
	 */
	public @Nullable String password() {
		RedisCredentials credentials = credentials();
		return (credentials != null && credentials.hasPassword()) ? new String(credentials.getPassword()) : null;
	}

	/**
	 * The properties by which Spring Boot uses this server.
	 * @return properties {@code spring.data.redis.*}, one for each part of the address so
	 * that a test may replace host and port by those of a proxy, and one that keeps the
	 * records of jobs in another database
	 */
	public Map<String, String> properties() {
		RedisURI uri = this.server.uri();
		Map<String, String> properties = new LinkedHashMap<>();
		properties.put("spring.data.redis.host", uri.getHost());
		properties.put("spring.data.redis.port", Integer.toString(uri.getPort()));
		RedisCredentials credentials = credentials();
		if (credentials != null && credentials.hasUsername()) {
			properties.put("spring.data.redis.username", credentials.getUsername());
		}
		String password = password();
		if (password != null) {
			properties.put("spring.data.redis.password", password);
		}
		if (uri.getDatabase() != 0) {
			properties.put("spring.data.redis.database", Integer.toString(uri.getDatabase()));
		}
		if (uri.isSsl()) {
			properties.put("spring.data.redis.ssl.enabled", "true");
		}
		properties.put("pipeset.control.database", Integer.toString(uri.getDatabase() + 1));
		return properties;
	}

	/**
	 * The properties by which a service has its control Redis at this server, in a
	 * database of its own.
	 * @return properties {@code pipeset.control.*}
	 */
	public Map<String, String> controlProperties() {
		Map<String, String> properties = new LinkedHashMap<>();
		properties()
			.forEach((name, value) -> properties.put(name.replace("spring.data.redis.", "pipeset.control."), value));
		properties.put("pipeset.control.database", Integer.toString(this.server.uri().getDatabase() + 1));
		return properties;
	}

	/**
	 * The name that a service gives the server by {@link #properties()}.
	 */
	public RedisIdentity identity() {
		return RedisIdentity.of(Stream.of(RedisIdentity.address(host(), port())),
				Integer.toString(uri().getDatabase()));
	}

	/**
	 * A key in the control Redis of a service that has its data here.
	 * @param kind such as {@code job}
	 */
	public String controlKey(String kind, String name) {
		return "pipeset:" + kind + ":" + identity().name() + ":" + name;
	}

	/** The place of what services keep in their control Redis, by those properties. */
	public RedisURI controlUri() {
		return RedisURI.builder(uri()).withDatabase(uri().getDatabase() + 1).build();
	}

	/**
	 * Registers {@link #properties()}, for use in a {@code @DynamicPropertySource}
	 * method.
	 * @param registry the registry of that method
	 */
	public void register(DynamicPropertyRegistry registry) {
		properties().forEach((name, value) -> registry.add(name, () -> value));
	}

	/** A free port for a server that a test starts by itself, each time another one. */
	public static int freePort() {
		return ClusterFormation.freePort();
	}

	/**
	 * Opens a port for TLS beside the one without, and tries another one if some process
	 * was faster.
	 */
	public int openTlsPort() {
		while (true) {
			int port = freePort();
			try {
				client().configSet("tls-port", Integer.toString(port));
				return port;
			}
			catch (RedisCommandExecutionException ex) {
				if (!String.valueOf(ex.getMessage()).contains("Unable to listen")) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Commands for assertions. They have a connection of their own, which reconnects
	 * after a restart.
	 * @return the same commands each time
	 */
	public synchronized RedisCommands<String, String> client() {
		StatefulRedisConnection<String, String> connection = this.connection;
		if (connection == null) {
			connection = client.connect(uri());
			this.connection = connection;
		}
		return connection.sync();
	}

	/**
	 * Whether the server knows a command.
	 * @param command the command's name, in any case
	 * @return {@code false} on servers that are older, or another product
	 */
	public boolean knows(String command) {
		return client().commandInfo(command).get(0) instanceof List<?> details && !details.isEmpty();
	}

	/**
	 * Skips a test of a command that the server does not know, with a line that says so.
	 * @param command the command's name, in any case
	 */
	public void assumeKnown(String command) {
		assumeTrue(knows(command), () -> RedisPing.product(client().info("server")) + " has no " + command + "; "
				+ RedisSource.EXECUTABLE_VARIABLE + " names a server that has it");
	}

	/**
	 * Runs any command, also one that Lettuce does not know.
	 * @param words the command
	 * @throws RedisCommandExecutionException if Redis refuses it
	 */
	public void send(String... words) {
		ProtocolKeyword keyword = new ProtocolKeyword() {
			@Override
			public byte[] getBytes() {
				return words[0].getBytes(StandardCharsets.US_ASCII);
			}

			@Override
			public String toString() {
				return words[0];
			}
		};
		CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
		Stream.of(words).skip(1).forEach(args::add);
		client().dispatch(keyword, new CommandOutput<String, String, String>(StringCodec.UTF8, "") {
			@Override
			public void set(ByteBuffer bytes) {
			}

			@Override
			public void set(long integer) {
			}

			@Override
			public void set(double number) {
			}

			@Override
			public void set(boolean value) {
			}
		}, args);
	}

	/**
	 * Kills the server (SIGKILL), and waits until it has ended.
	 */
	public void kill() {
		this.server.kill();
	}

	/**
	 * Pauses the server (SIGSTOP): its connections stay open, and it answers nothing.
	 */
	public void pause() {
		this.server.pause();
	}

	/**
	 * Lets a paused server go on (SIGCONT).
	 */
	public void resume() {
		this.server.resume();
	}

	/**
	 * Holds all writes back for a minute, and nothing else (CLIENT PAUSE): whoever takes
	 * a connection meanwhile finds it alive.
	 */
	public void pauseWrites() {
		client("PAUSE", "60000", "WRITE");
	}

	/**
	 * Lets the writes run that were held back (CLIENT UNPAUSE).
	 */
	public void resumeWrites() {
		client("UNPAUSE");
	}

	private void client(String... words) {
		CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
		List.of(words).forEach(arguments::add);
		client().dispatch(CommandType.CLIENT, new StatusOutput<>(StringCodec.UTF8), arguments);
	}

	/**
	 * Kills the server if it is running and starts it again with the same address,
	 * credentials and configuration.
	 */
	public void restart() {
		this.server.restart();
	}

	/**
	 * Ends a server that a test has started. The shared one goes on.
	 */
	@Override
	public void close() {
		if (!this.shared) {
			end();
		}
	}

	private synchronized void end() {
		if (this.connection != null) {
			this.connection.close();
			this.connection = null;
		}
		this.server.close();
	}

	private @Nullable RedisCredentials credentials() {
		return this.server.uri().getCredentialsProvider().resolveCredentials().block(Duration.ofSeconds(1));
	}

	/**
	 * Opens the chosen source once. Even a failure is remembered, so that not each of a
	 * hundred tests waits for it.
	 */
	private static final class Shared {

		private static RedisSource.@Nullable Opened opened;

		private static @Nullable TestRedis redis;

		private static @Nullable String failure;

		static synchronized TestRedis redis() {
			if (redis == null) {
				redis = new TestRedis(opened().shared(), true);
				Runtime.getRuntime().addShutdownHook(new Thread(redis::end, "test-redis-end"));
			}
			return redis;
		}

		static synchronized RedisSource source() {
			redis();
			return opened().source();
		}

		private static RedisSource.Opened opened() {
			if (failure != null) {
				throw new IllegalStateException(failure);
			}
			if (opened == null) {
				try {
					String choice = RedisSource.setting(RedisSource.VARIABLE);
					opened = RedisSource.open((choice != null) ? choice.toLowerCase(Locale.ROOT) : "auto");
					print(opened);
				}
				catch (RuntimeException ex) {
					failure = ex.getMessage();
					throw ex;
				}
			}
			return opened;
		}

		private static void print(RedisSource.Opened opened) {
			RedisURI uri = opened.shared().uri();
			String info = RedisPing.once(uri);
			logger.info("Tests use {} at {}:{} ({}={})", RedisPing.product(info), uri.getHost(), uri.getPort(),
					RedisSource.VARIABLE, opened.source().choice());
		}

	}

}
