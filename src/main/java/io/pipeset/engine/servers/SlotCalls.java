package io.pipeset.engine.servers;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.StopSignal;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.RedisCalls;
import io.pipeset.engine.slab.Redirect;
import io.pipeset.engine.slab.Redirect.Kind;

/**
 * Makes single calls about keys of one slot, at the master that has the slot. If the slot
 * moves, the call follows it: a call that was redirected has not run. While nobody serves
 * the slot, the call waits. A single server has all slots.
 */
public final class SlotCalls {

	private static final Duration MOST = Duration.ofSeconds(2);

	private static final long LONGEST_PAUSE_MILLIS = 100;

	private final RedisNodes nodes;

	private final Duration most;

	private final StopSignal stop;

	/** Calls that follow their slot for two seconds at most. */
	public SlotCalls(RedisNodes nodes) {
		this(nodes, MOST, StopSignal.NEVER);
	}

	/**
	 * Calls that follow their slot.
	 * @param most how long a call is redirected, or waits for its slot, before it fails
	 * @param stop ends such a wait
	 */
	public SlotCalls(RedisNodes nodes, Duration most, StopSignal stop) {
		this.nodes = nodes;
		this.most = most;
		this.stop = stop;
	}

	/**
	 * Runs a script that may run twice: if its connection breaks, it is run again at
	 * once.
	 * @param slot the slot of all its keys
	 * @param lua the script, which answers an array
	 * @return the array: numbers, byte arrays and such arrays
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public List<Object> evalRepeatable(int slot, String lua, List<byte[]> keys, List<byte[]> arguments) {
		return ask(slot, (calls, asking) -> calls.evalRepeatable(asking, lua, keys, arguments));
	}

	/**
	 * Runs a script, and never twice.
	 * @param slot the slot of all its keys
	 * @param lua the script, which answers an array
	 * @return the array: numbers, byte arrays and such arrays
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public List<Object> evalOnce(int slot, String lua, List<byte[]> keys, List<byte[]> arguments) {
		return ask(slot, (calls, asking) -> calls.evalOnce(asking, lua, keys, arguments));
	}

	/**
	 * The master that a call goes to: any of them while the slot has none, as it says
	 * then that nobody serves the slot.
	 * @throws RedisCallException if no master is known
	 */
	public RedisNode master(int slot) {
		try {
			return this.nodes.owners().ownerOrAny(slot);
		}
		catch (NoConnectionException ex) {
			throw RedisCallException.unreachable(ex);
		}
	}

	/**
	 * The master of a slot, for callers that do not wait for one.
	 * @throws RedisCallException if the slot has no master, or none is known
	 */
	public RedisNode owner(int slot) {
		try {
			RedisNode owner = this.nodes.owners().owner(slot);
			if (owner != null) {
				return owner;
			}
			this.nodes.refreshSoon();
			throw new NoConnectionException("the cluster", "slot " + slot + " has no master now");
		}
		catch (NoConnectionException ex) {
			throw RedisCallException.unreachable(ex);
		}
	}

	/**
	 * Makes a call about keys of one slot.
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public <T> T ask(int slot, Call<T> call) {
		long begun = System.nanoTime();
		RedisNode node = master(slot);
		boolean asking = false;
		for (int round = 0;; round++) {
			try {
				return call.at(node.calls(), asking);
			}
			catch (RedisCallException ex) {
				Redirect redirect = ex.redirect();
				if (redirect == null || System.nanoTime() - begun > this.most.toNanos() || !goesOn(redirect, round)) {
					if (redirect != null || ex.code() == null) {
						// The next call goes to the master that the cluster names then.
						this.nodes.refresh();
					}
					throw ex;
				}
				RedisNode target = (redirect.target().isEmpty()) ? null : this.nodes.target(redirect.target(), node);
				asking = redirect.kind() == Kind.ASK && target != null;
				if (redirect.kind() == Kind.MOVED && target != null) {
					this.nodes.moved(slot, target);
				}
				if (target == null) {
					this.nodes.refresh();
				}
				node = (target != null) ? target : master(slot);
			}
		}
	}

	/**
	 * Pauses before a call that cannot run now, or was redirected more than once;
	 * {@code false} if there is to be no other attempt.
	 */
	private boolean goesOn(Redirect redirect, int round) {
		long millis = Math.min(LONGEST_PAUSE_MILLIS, 5L << Math.min(round, 10));
		return (round <= 1 && !redirect.target().isEmpty()) || !this.stop.await(TimeUnit.MILLISECONDS.toNanos(millis));
	}

	/**
	 * A call to one server.
	 *
	 * @param <T> its answer
	 */
	@FunctionalInterface
	public interface Call<T> {

		/**
		 * Makes the call.
		 * @param asking whether the slot is on its way to this server
		 */
		T at(RedisCalls calls, boolean asking);

	}

}
