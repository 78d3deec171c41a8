package io.pipeset.engine.pipeline.call;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.record.Script;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;

/**
 * Makes single calls to a server, or to its successor if it has been replaced. These
 * calls use only the connections that are reserved for them, so they never compete with
 * jobs.
 */
public final class RedisCalls {

	private final ConnectionLender lender;

	private final Duration replyTimeout;

	private final Semaphore permits;

	/**
	 * Makes calls.
	 * @param replyTimeout how long to wait for a connection, and then for each reply
	 * @param maxConnections the maximum number of connections that calls hold at once
	 */
	public RedisCalls(ConnectionLender lender, Duration replyTimeout, int maxConnections) {
		this.lender = lender;
		this.replyTimeout = replyTimeout;
		this.permits = new Semaphore(maxConnections, true);
	}

	/**
	 * Runs a script that is safe to run twice: if its connection breaks, the script is
	 * run again at once.
	 * @param asking whether to send ASKING first, because the keys' slot is migrating to
	 * this node
	 * @param lua the script, which returns an array
	 * @return the array: numbers, byte arrays and such arrays
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public List<Object> evalRepeatable(boolean asking, String lua, List<byte[]> keys, List<byte[]> arguments) {
		return this.lender.repeat(() -> evalOnce(asking, lua, keys, arguments));
	}

	/**
	 * Runs a script at most once.
	 * @param asking whether to send ASKING first, because the keys' slot is migrating to
	 * this node
	 * @param lua the script, which returns an array
	 * @return the array: numbers, byte arrays and such arrays
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public List<Object> evalOnce(boolean asking, String lua, List<byte[]> keys, List<byte[]> arguments) {
		return this.<List<Object>>call(asking, (commands) -> commands.eval(lua, ScriptOutputType.MULTI,
				keys.toArray(byte[][]::new), arguments.toArray(byte[][]::new)));
	}

	/**
	 * Runs an empty transaction.
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	void emptyTransaction() {
		call((connection) -> {
			connection.call(RedisAsyncCommands::multi);
			try {
				return connection.call(RedisAsyncCommands::exec);
			}
			catch (RedisCallException ex) {
				// Without an EXEC, the connection would queue the next user's commands.
				connection.close();
				throw ex;
			}
		});
	}

	/**
	 * Runs a CLIENT KILL for a connection that does not exist.
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public void killNone() {
		call((connection) -> connection.call((commands) -> commands.clientKill(KillArgs.Builder.id(Long.MAX_VALUE))));
	}

	/**
	 * Asks for the descriptions of all commands.
	 * @return a list for each command
	 * @throws RedisCallException if the server refuses it or does not answer
	 */
	List<Object> commands() {
		return this.lender.repeat(() -> call((connection) -> connection.call(RedisAsyncCommands::command)));
	}

	/**
	 * Queries the number of connected replicas with WAIT, the command that batches use.
	 * @throws RedisCallException if the server refuses it or does not answer
	 */
	public long replicas() {
		return this.lender
			.repeat(() -> call((connection) -> connection.call((commands) -> commands.waitForReplication(0, 0))));
	}

	/**
	 * Loads a script. Redis compiles it.
	 * @throws ScriptRefusedException if Redis refuses it, with Redis's error
	 * @throws NoConnectionException if Redis could not be reached or did not answer
	 */
	public void load(Script script) throws ScriptRefusedException, NoConnectionException {
		try {
			this.lender
				.repeat(() -> call((connection) -> connection.call((commands) -> commands.scriptLoad(script.text()))));
		}
		catch (RedisCallException ex) {
			if (ex.code() != null) {
				throw new ScriptRefusedException(
						String.valueOf(NestedExceptionUtils.getMostSpecificCause(ex).getMessage()));
			}
			throw (ex.getCause() instanceof NoConnectionException none) ? none
					: new NoConnectionException(this.lender.address(), ex);
		}
	}

	/**
	 * Queries one page of keys with SCAN. If the connection breaks, the page is queried
	 * on another connection at once.
	 * @param position where to continue; if the position is no longer valid, the scan
	 * restarts
	 * @param count about how many keys the server examines; the filter may return fewer
	 * @param maxBytes the maximum memory of the keys
	 * @throws RedisCallException if Redis refuses the call or does not answer
	 */
	public ScanPage scan(ScanPosition position, KeyFilter filter, int count, long maxBytes) {
		return this.lender.repeat(
				() -> call((connection) -> ScanPage.query(connection, position, filter.arguments(count), maxBytes)));
	}

	/**
	 * Makes calls on one connection. If it breaks, they are made on another at once, so
	 * they must be safe to run twice.
	 * @param timeout how long to wait for each reply that identifies a new connection
	 * @throws RedisCallException if there was no connection, or if {@code calls} throws
	 * it
	 */
	public <T> T repeat(Duration timeout, Function<CallConnection, T> calls) {
		return this.lender.repeat(() -> call(timeout, calls));
	}

	/**
	 * Queries the run id of the server.
	 * @return the {@code run_id}; {@code null} if the server does not permit the query
	 * @throws RedisCallException if the server does not answer, or cannot answer yet
	 */
	public @Nullable String runId() {
		return this.lender.repeat(() -> call(ClientIdentity::serverRunId));
	}

	/**
	 * Queries the version of Redis.
	 * @return the version, or "unknown" if Redis does not report it
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public String version() {
		String version = this.lender.repeat(() -> call(ServerInfo::query)).version();
		return (version != null) ? version : "unknown";
	}

	/**
	 * Measures the round trip of PING.
	 * @return the median, in nanoseconds
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public long roundTripNanos(int pings) {
		return this.lender.repeat(() -> call((connection) -> {
			long[] nanos = new long[pings];
			for (int i = 0; i < pings; i++) {
				long begun = System.nanoTime();
				connection.call(RedisAsyncCommands::ping);
				nanos[i] = System.nanoTime() - begun;
			}
			Arrays.sort(nanos);
			return nanos[pings / 2];
		}));
	}

	/**
	 * Queries the number of elements of a key, or the length of a string in bytes.
	 * @param asking whether to send ASKING first, because a cluster node answered ASK
	 * @param command the command for the type of the key, such as LLEN
	 * @return 0 if the key does not exist
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public long length(boolean asking, String command, byte[] key) {
		return this.lender.repeat(() -> this.<Long>call(asking,
				(commands) -> commands.dispatch(CommandType.valueOf(command),
						new IntegerOutput<>(ByteArrayCodec.INSTANCE),
						new CommandArgs<>(ByteArrayCodec.INSTANCE).addKey(key))));
	}

	/**
	 * Runs a command that is safe to run twice: if its connection breaks, it is run again
	 * at once.
	 * @param asking whether to send ASKING first, because the key's slot is migrating to
	 * this node
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public <T> T repeatable(boolean asking, Function<RedisAsyncCommands<byte[], byte[]>, RedisFuture<T>> command) {
		return this.lender.repeat(() -> call(asking, command));
	}

	/**
	 * Queries the CPU time that Redis has used since its start.
	 * @return seconds; {@code null} if Redis does not report it
	 * @throws RedisCallException if Redis does not answer
	 */
	public @Nullable Double cpuSeconds() {
		String info = info(List.of("cpu"));
		String user = ServerInfo.field(info, "used_cpu_user:");
		String system = ServerInfo.field(info, "used_cpu_sys:");
		return (user != null && system != null) ? Double.valueOf(user) + Double.valueOf(system) : null;
	}

	/**
	 * Queries the memory of Redis.
	 * @return the memory; {@code null} if Redis does not report it
	 * @throws RedisCallException if Redis does not answer
	 */
	public @Nullable ServerMemory memory() {
		return ServerMemory.of(info(ServerMemory.SECTIONS));
	}

	/**
	 * Queries sections of INFO in one round trip. The result is empty if Redis does not
	 * allow it.
	 */
	private String info(List<String> sections) {
		try {
			return this.lender.repeat(() -> call((connection) -> info(connection, sections)));
		}
		catch (RedisCallException ex) {
			if (ex.isTransient()) {
				throw ex;
			}
			return "";
		}
	}

	private static String info(CallConnection connection, List<String> sections) {
		List<RedisFuture<String>> answers = new ArrayList<>();
		// The last reply comes after all others.
		connection.call((redis) -> {
			sections.forEach((section) -> answers.add(redis.info(section)));
			return answers.get(answers.size() - 1);
		});
		return answers.stream().map((answer) -> connection.call((redis) -> answer)).collect(Collectors.joining("\n"));
	}

	/**
	 * Whether this node reports that its cluster serves all slots.
	 * @return {@code false} also while the node loads its data
	 * @throws RedisCallException if the node refuses the query or does not answer
	 */
	public boolean isClusterWhole() {
		try {
			String info = call((connection) -> connection.call(RedisAsyncCommands::clusterInfo));
			return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + Slots.COUNT);
		}
		catch (RedisCallException ex) {
			if (ex.code() != null && ex.isTransient()) {
				return false;
			}
			throw ex;
		}
	}

	/**
	 * Queries this node's view of its cluster with CLUSTER NODES.
	 * @return a line for each node
	 * @throws RedisCallException if the node refuses the query or does not answer
	 */
	public String clusterNodes() {
		return call((connection) -> connection.call(RedisAsyncCommands::clusterNodes));
	}

	/** Makes a call to the node that owns the keys' slot or imports it. */
	private <T> T call(boolean asking, Function<RedisAsyncCommands<byte[], byte[]>, RedisFuture<T>> call) {
		return call((connection) -> {
			if (asking) {
				connection.call(RedisAsyncCommands::asking);
			}
			return connection.call(call);
		});
	}

	private <T> T call(Function<CallConnection, T> call) {
		return call(this.replyTimeout, call);
	}

	private <T> T call(Duration timeout, Function<CallConnection, T> call) {
		acquirePermit();
		try {
			return this.lender.callMaster(timeout, call);
		}
		finally {
			this.permits.release();
		}
	}

	private void acquirePermit() {
		try {
			if (this.permits.tryAcquire(this.replyTimeout.toNanos(), TimeUnit.NANOSECONDS)) {
				return;
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw RedisCallException
			.unreachable(new NoConnectionException(this.lender.address(), "all connections for single calls are busy"));
	}

}
