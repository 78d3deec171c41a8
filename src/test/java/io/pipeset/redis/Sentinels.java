package io.pipeset.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.util.FileSystemUtils;

import static org.awaitility.Awaitility.await;

/**
 * A master with a replica, and three Sentinels that watch them. A class registers it as a
 * static field.
 */
public final class Sentinels implements AfterAllCallback {

	private static final String MASTER = "mymaster";

	/** A user of both servers, beside the one that each has of its own. */
	private static final String USER = "both";

	private static final String PASSWORD = "of-both";

	private static final String SENTINEL_PASSWORD = "of-sentinels";

	private static final String DOWN_AFTER = "60000";

	/** Milliseconds after which Sentinels ask the servers again. */
	private static final int INFO_PERIOD = 10_000;

	/** Milliseconds after which Sentinels tell of themselves again. */
	private static final int PUBLISH_PERIOD = 2000;

	private final TestRedis one = server();

	private final TestRedis other = server();

	private final List<Process> processes = new ArrayList<>();

	private final List<Integer> ports = new ArrayList<>();

	private final Path directory;

	private final RedisClient client = RedisClient.create();

	private final List<RedisSentinelCommands<String, String>> sentinels = new ArrayList<>();

	private Sentinels() throws IOException {
		this.directory = Files.createTempDirectory("sentinels");
		this.other.client().replicaof(this.one.host(), this.one.port());
		awaitReplica(this.one);
		for (int i = 0; i < 3; i++) {
			startSentinel();
		}
		for (int port : this.ports) {
			RedisURI uri = RedisURI.builder()
				.withHost("127.0.0.1")
				.withPort(port)
				.withPassword(SENTINEL_PASSWORD.toCharArray())
				.build();
			this.sentinels.add(await().ignoreExceptions()
				.atMost(Duration.ofSeconds(30))
				.until(() -> this.client.connectSentinel(uri).sync(), (commands) -> true));
		}
		awaitReady();
	}

	/**
	 * Starts them all.
	 * @return the servers, to be registered as an extension
	 */
	public static Sentinels start() {
		try {
			return new Sentinels();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The properties by which Spring Boot asks these Sentinels.
	 * @return properties {@code spring.data.redis.*}
	 */
	public Map<String, String> properties() {
		Map<String, String> properties = new LinkedHashMap<>();
		properties.put("spring.data.redis.sentinel.master", MASTER);
		properties.put("spring.data.redis.sentinel.nodes",
				this.ports.stream().map((port) -> "127.0.0.1:" + port).collect(Collectors.joining(",")));
		properties.put("spring.data.redis.sentinel.password", SENTINEL_PASSWORD);
		properties.put("spring.data.redis.username", USER);
		properties.put("spring.data.redis.password", PASSWORD);
		return properties;
	}

	/**
	 * The server that the Sentinels take for the master.
	 * @return one of the two
	 */
	public TestRedis master() {
		return (masterPort(this.sentinels.get(0)) == this.one.port()) ? this.one : this.other;
	}

	/**
	 * The other server.
	 * @return the one that is not the master
	 */
	public TestRedis replica() {
		return (master() == this.one) ? this.other : this.one;
	}

	/**
	 * Makes the replica the master, while the old master lives on.
	 * @return the new master, as soon as one Sentinel names it
	 */
	public TestRedis failOver() {
		TestRedis next = replica();
		this.sentinels.get(0).failover(MASTER);
		await().pollInterval(Duration.ofMillis(5))
			.atMost(Duration.ofSeconds(30))
			.until(() -> masterPort(this.sentinels.get(0)) == next.port());
		return next;
	}

	/**
	 * Kills the master, and waits until its replica has taken its place.
	 * @param master the master
	 */
	public void kill(TestRedis master) {
		int next = replica().port();
		// Not so soon for the other failovers, in which a busy server must not seem dead.
		setDownAfter("1000");
		master.kill();
		await().atMost(Duration.ofSeconds(50))
			.until(() -> this.sentinels.stream().allMatch((sentinel) -> masterPort(sentinel) == next));
		setDownAfter(DOWN_AFTER);
	}

	/**
	 * Starts a killed server again, without its data. The Sentinels make it a replica.
	 * @param redis the server
	 */
	public void restart(TestRedis redis) {
		redis.restart();
	}

	private static TestRedis server() {
		return TestRedis.start("user " + USER + " on >" + PASSWORD + " ~* &* +@all", "masteruser " + USER,
				"masterauth " + PASSWORD, "repl-diskless-sync-delay 0");
	}

	private void setDownAfter(String millis) {
		this.sentinels.forEach((sentinel) -> sentinel.set(MASTER, "down-after-milliseconds", millis));
	}

	/**
	 * Waits until a failover is possible, all Sentinels having seen both servers. They
	 * hurry meanwhile: a former master becomes a replica after four of their messages.
	 */
	public void awaitReady() {
		await().atMost(Duration.ofMinutes(1))
			.ignoreExceptions()
			.until(() -> this.sentinels.stream().map(Sentinels::masterPort).distinct().count() == 1);
		setPeriods(INFO_PERIOD / 10, PUBLISH_PERIOD / 10);
		try {
			await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> {
				int port = masterPort(this.sentinels.get(0));
				return this.sentinels.stream().allMatch((sentinel) -> isReady(sentinel, port));
			});
		}
		finally {
			setPeriods(INFO_PERIOD, PUBLISH_PERIOD);
		}
		awaitReplica(master());
	}

	private void setPeriods(int info, int publish) {
		for (RedisSentinelCommands<String, String> sentinel : this.sentinels) {
			try {
				sentinel.dispatch(CommandType.SENTINEL, new StatusOutput<>(StringCodec.UTF8),
						new CommandArgs<>(StringCodec.UTF8).add("DEBUG")
							.add("info-period")
							.add(info)
							.add("publish-period")
							.add(publish));
			}
			catch (RedisCommandExecutionException ex) {
				// Before Redis 7 they take their time.
			}
		}
	}

	private static void awaitReplica(TestRedis master) {
		await().atMost(Duration.ofMinutes(1))
			.ignoreExceptions()
			.until(() -> master.client().waitForReplication(1, 100) == 1);
	}

	private static boolean isReady(RedisSentinelCommands<String, String> sentinel, int port) {
		Map<String, String> master = sentinel.master(MASTER);
		return masterPort(sentinel) == port && master.get("flags").equals("master")
				&& master.get("num-other-sentinels").equals("2")
				&& sentinel.replicas(MASTER)
					.stream()
					.anyMatch((replica) -> replica.get("flags").equals("slave")
							&& replica.get("master-link-status").equals("ok"));
	}

	private static int masterPort(RedisSentinelCommands<String, String> sentinel) {
		return ((InetSocketAddress) sentinel.getMasterAddrByName(MASTER)).getPort();
	}

	private void startSentinel() throws IOException {
		int port = ClusterFormation.freePort();
		Path file = this.directory.resolve(port + ".conf");
		Files.writeString(file, """
				port %d
				bind 127.0.0.1
				dir %s
				requirepass %s
				sentinel monitor %s %s %d 2
				sentinel auth-user %s %s
				sentinel auth-pass %s %s
				sentinel down-after-milliseconds %s %s
				sentinel failover-timeout %s 10000
				""".formatted(port, this.directory, SENTINEL_PASSWORD, MASTER, this.one.host(), this.one.port(), MASTER,
				USER, MASTER, PASSWORD, MASTER, DOWN_AFTER, MASTER));
		this.processes.add(new ProcessBuilder(executable(), file.toString(), "--sentinel").redirectErrorStream(true)
			.redirectOutput(this.directory.resolve(port + ".log").toFile())
			.start());
		this.ports.add(port);
	}

	/** The program of the servers, which can be a Sentinel as well. */
	private String executable() {
		String chosen = RedisSource.setting(RedisSource.EXECUTABLE_VARIABLE);
		return (chosen != null) ? chosen
				: this.one.client()
					.info("server")
					.lines()
					.filter((line) -> line.startsWith("executable:"))
					.map((line) -> line.substring("executable:".length()).strip())
					.findFirst()
					.orElseThrow();
	}

	@Override
	public void afterAll(ExtensionContext context) throws Exception {
		end();
	}

	/**
	 * Ends them all, for tests in which they are no extension.
	 * @throws Exception if they do not end
	 */
	public void end() throws Exception {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		this.processes.forEach(Process::destroyForcibly);
		for (Process process : this.processes) {
			process.waitFor();
		}
		this.one.close();
		this.other.close();
		FileSystemUtils.deleteRecursively(this.directory);
	}

}
