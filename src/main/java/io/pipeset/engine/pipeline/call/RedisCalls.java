package io.pipeset.engine.pipeline.call;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pipeset.record.Record;
import io.pipeset.record.Script;
import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;

/**
 * Makes single calls apart from the batches of jobs: to a server, or to the one that has
 * taken its place. It makes only as many at once as there are connections that are not
 * for jobs.
 */
public final class RedisCalls {

	private final ConnectionLender lender;

	private final Duration patience;

	private final Semaphore free;

	/**
	 * Makes calls.
	 * @param patience how long to wait for a connection, and then for an answer
	 * @param atOnce how many connections the calls may hold
	 */
	public RedisCalls(ConnectionLender lender, Duration patience, int atOnce) {
		this.lender = lender;
		this.patience = patience;
		this.free = new Semaphore(atOnce, true);
	}

	/**
	 * Runs a script that may run twice: if its connection breaks, it is run again at
	 * once.
	 * @param asking whether the slot of its keys is on its way to this node
	 * @param lua the script, which answers an array
	 * @return the array: numbers, byte arrays and such arrays
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public List<Object> evalRepeatable(boolean asking, String lua, List<byte[]> keys, List<byte[]> arguments) {
		return this.lender.repeat(() -> evalOnce(asking, lua, keys, arguments));
	}

	/**
	 * Runs a script, and never twice.
	 * @param asking whether the slot of its keys is on its way to this node
	 * @param lua the script, which answers an array
	 * @return the array: numbers, byte arrays and such arrays
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public List<Object> evalOnce(boolean asking, String lua, List<byte[]> keys, List<byte[]> arguments) {
		return this.<List<Object>>call(asking, (commands) -> commands.eval(lua, ScriptOutputType.MULTI,
				keys.toArray(byte[][]::new), arguments.toArray(byte[][]::new)));
	}

	/**
	 * Runs a transaction of nothing.
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	void emptyTransaction() {
		call((connection) -> {
			connection.call(RedisAsyncCommands::multi);
			try {
				return connection.call(RedisAsyncCommands::exec);
			}
			catch (RedisCallException ex) {
				// The connection may still queue the commands that come next on it.
				connection.close();
				throw ex;
			}
		});
	}

	/**
	 * Asks how many replicas are connected, in the way in which a batch asks for them.
	 * @throws RedisCallException if the server refuses it or does not answer
	 */
	public long replicas() {
		return this.lender
			.repeat(() -> call((connection) -> connection.call((commands) -> commands.waitForReplication(0, 0))));
	}

	/**
	 * Loads a script, which Redis compiles.
	 * @throws ScriptRefusedException if Redis refuses it, with Redis's error
	 * @throws NoConnectionException if Redis was not there to load it
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
	 * Asks SCAN for some keys. If the connection breaks, another one is asked at once.
	 * @param place the place from which to go on; if it has lost its meaning, the keys
	 * are the first ones
	 * @param count how many keys the server looks at, about; it reports fewer by the
	 * filter
	 * @param maxBytes the memory that the keys may take
	 * @throws RedisCallException if Redis refuses the call or does not answer
	 */
	public ScanPage scan(ScanPosition place, KeyFilter filter, int count, long maxBytes) {
		return this.lender.repeat(() -> call((connection) -> {
			String life = ClientIdentity.life(connection);
			return ScanPage.ask(connection, life, place, filter.arguments(count), maxBytes);
		}));
	}

	/**
	 * Asks for the version of Redis.
	 * @return the version, or "unknown" where Redis does not tell it
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public String version() {
		String version = this.lender.repeat(() -> call(ServerInfo::ask)).version();
		return (version != null) ? version : "unknown";
	}

	/**
	 * Measures the time between a command and its answer.
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
	 * Sends a record by itself, as a client without a pipeline does.
	 * @param asking whether a node of a cluster sent it here by ASK
	 * @param record a good record
	 * @return {@code true}, as there was an answer
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public boolean send(boolean asking, Record record) {
		CommandArgs<byte[], byte[]> arguments = new CommandArgs<>(ByteArrayCodec.INSTANCE);
		for (int i = 0; i < record.argumentCount(); i++) {
			int from = record.offset(i);
			arguments.add(Arrays.copyOfRange(record.source(i), from, from + record.length(i)));
		}
		CommandType command = CommandType.valueOf(record.operation().name());
		return this.<Boolean>call(asking, (commands) -> commands.dispatch(command, new AnyReplyOutput(), arguments));
	}

	/**
	 * Removes keys, be they there or not, by several commands in one round trip.
	 * @param commands the keys of each command
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public void unlink(List<List<byte[]>> commands) {
		this.lender.repeat(() -> call((connection) -> unlink(connection, commands)));
	}

	/**
	 * Removes a key, be it there or not.
	 * @param asking whether a node of a cluster sent the call here by ASK
	 * @return how many keys were there
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public long unlink(boolean asking, byte[] key) {
		return this.lender.repeat(() -> call(asking, (commands) -> commands.unlink(key)));
	}

	private static long unlink(CallConnection connection, List<List<byte[]>> commands) {
		List<RedisFuture<Long>> answers = new ArrayList<>();
		// The last answer comes behind all others.
		connection.call((redis) -> {
			commands.forEach((keys) -> answers.add(redis.unlink(keys.toArray(byte[][]::new))));
			return answers.get(answers.size() - 1);
		});
		return answers.stream().mapToLong((answer) -> connection.call((redis) -> answer)).sum();
	}

	/**
	 * Asks for the number of elements of a key, or the bytes of a string.
	 * @param asking whether a node of a cluster sent the call here by ASK
	 * @param command the command for the type of the key, such as LLEN
	 * @return 0 if the key is not there
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public long length(boolean asking, String command, byte[] key) {
		return this.lender.repeat(() -> this.<Long>call(asking,
				(commands) -> commands.dispatch(CommandType.valueOf(command),
						new IntegerOutput<>(ByteArrayCodec.INSTANCE),
						new CommandArgs<>(ByteArrayCodec.INSTANCE).addKey(key))));
	}

	/**
	 * Asks for the processor time that Redis has taken since its start.
	 * @return seconds; {@code null} where Redis does not tell it
	 * @throws RedisCallException if Redis does not answer
	 */
	public @Nullable Double cpuSeconds() {
		String info = info(List.of("cpu"));
		String user = ServerInfo.field(info, "used_cpu_user:");
		String system = ServerInfo.field(info, "used_cpu_sys:");
		return (user != null && system != null) ? Double.valueOf(user) + Double.valueOf(system) : null;
	}

	/**
	 * Asks for the memory of Redis.
	 * @return the memory; {@code null} where Redis does not tell it
	 * @throws RedisCallException if Redis does not answer
	 */
	public @Nullable ServerMemory memory() {
		return ServerMemory.of(info(ServerMemory.SECTIONS));
	}

	/**
	 * Sections of INFO, in one round trip; empty where the service's user may not ask for
	 * them.
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
		// The last answer comes behind all others.
		connection.call((redis) -> {
			sections.forEach((section) -> answers.add(redis.info(section)));
			return answers.get(answers.size() - 1);
		});
		return answers.stream().map((answer) -> connection.call((redis) -> answer)).collect(Collectors.joining("\n"));
	}

	/**
	 * Whether this node says that its cluster serves all slots.
	 * @return {@code false} also while the node loads its data
	 * @throws RedisCallException if it refuses to tell or does not answer
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
	 * Asks this node about itself and the others of its cluster, by CLUSTER NODES.
	 * @return a line for each node
	 * @throws RedisCallException if it refuses to tell or does not answer
	 */
	public String clusterNodes() {
		return call((connection) -> connection.call(RedisAsyncCommands::clusterNodes));
	}

	/** Makes a call about keys of one slot, at the node that has it or is to have it. */
	private <T> T call(boolean asking, Function<RedisAsyncCommands<byte[], byte[]>, RedisFuture<T>> call) {
		return call((connection) -> {
			if (asking) {
				connection.call(RedisAsyncCommands::asking);
			}
			return connection.call(call);
		});
	}

	private <T> T call(Function<CallConnection, T> call) {
		enter();
		try {
			return this.lender.callMaster(this.patience, call);
		}
		finally {
			this.free.release();
		}
	}

	private void enter() {
		try {
			if (this.free.tryAcquire(this.patience.toNanos(), TimeUnit.NANOSECONDS)) {
				return;
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw RedisCallException.unreachable(
				new NoConnectionException(this.lender.address(), "those that are not for jobs all wait for an answer"));
	}

}
