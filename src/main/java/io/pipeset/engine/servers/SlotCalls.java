package io.pipeset.engine.servers;

import java.time.Duration;
import java.util.List;

import io.pipeset.engine.pipeline.Backoff;
import io.pipeset.engine.pipeline.RedisNode;
import io.pipeset.engine.pipeline.StopSignal;
import io.pipeset.engine.pipeline.call.NoConnectionException;
import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.RedisCalls;
import io.pipeset.engine.slab.Redirect;
import io.pipeset.engine.slab.Redirect.Kind;

/**
 * Makes single calls about keys of one slot, at the slot's master. If the slot moves, the
 * call follows it, because a redirected call has not run. If no master serves the slot,
 * the call waits. A single server has all slots.
 */
public final class SlotCalls {

	private static final Duration MAX_DURATION = Duration.ofSeconds(2);

	private final RedisNodes nodes;

	private final Duration maxDuration;

	private final StopSignal stop;

	/** Creates calls that follow their slot for two seconds at most. */
	public SlotCalls(RedisNodes nodes) {
		this(nodes, MAX_DURATION, StopSignal.NEVER);
	}

	/**
	 * Creates calls that follow their slot.
	 * @param maxDuration how long a call follows redirections, or waits for its slot,
	 * before it fails
	 * @param stop ends that wait
	 */
	public SlotCalls(RedisNodes nodes, Duration maxDuration, StopSignal stop) {
		this.nodes = nodes;
		this.maxDuration = maxDuration;
		this.stop = stop;
	}

	/**
	 * Runs a script that may run twice. If its connection breaks, the script runs again
	 * at once.
	 * @param slot the slot of all its keys
	 * @param lua the script, which returns an array
	 * @return the array: numbers, byte arrays and nested arrays
	 * @throws RedisCallException if Redis refuses the call or does not answer
	 */
	public List<Object> evalRepeatable(int slot, String lua, List<byte[]> keys, List<byte[]> arguments) {
		return ask(slot, (calls, asking) -> calls.evalRepeatable(asking, lua, keys, arguments));
	}

	/**
	 * Runs a script at most once.
	 * @param slot the slot of all its keys
	 * @param lua the script, which returns an array
	 * @return the array: numbers, byte arrays and nested arrays
	 * @throws RedisCallException if Redis refuses the call or does not answer
	 */
	public List<Object> evalOnce(int slot, String lua, List<byte[]> keys, List<byte[]> arguments) {
		return ask(slot, (calls, asking) -> calls.evalOnce(asking, lua, keys, arguments));
	}

	/**
	 * The master that a call goes to. If the slot has no master, this is any master,
	 * whose error says so.
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
			this.nodes.startRefresh();
			throw new NoConnectionException("the cluster", "slot " + slot + " has no master now");
		}
		catch (NoConnectionException ex) {
			throw RedisCallException.unreachable(ex);
		}
	}

	/**
	 * Makes a call about keys of one slot.
	 * @throws RedisCallException if Redis refuses the call or does not answer
	 */
	public <T> T ask(int slot, Call<T> call) {
		Backoff backoff = new Backoff(this.maxDuration, this.stop);
		backoff.begin();
		RedisNode node = master(slot);
		boolean asking = false;
		for (int round = 0;; round++) {
			try {
				return call.at(node.calls(), asking);
			}
			catch (RedisCallException ex) {
				Redirect redirect = ex.redirect();
				// Only a call that is redirected again, or cannot run now, waits.
				boolean follows = redirect != null && round <= 1 && !redirect.target().isEmpty();
				if (redirect == null || !(follows || backoff.next())) {
					if (redirect != null || ex.code() == null) {
						// The next call uses the masters that the cluster names then.
						this.nodes.refresh();
					}
					throw ex;
				}
				RedisNode target = (redirect.target().isEmpty()) ? null : this.nodes.target(redirect.target(), node);
				asking = redirect.kind() == Kind.ASK && target != null;
				if (redirect.kind() == Kind.MOVED && target != null) {
					this.nodes.setOwner(slot, target);
				}
				if (target == null) {
					this.nodes.refresh();
				}
				node = (target != null) ? target : master(slot);
			}
		}
	}

	/**
	 * A call to one server.
	 *
	 * @param <T> the answer
	 */
	@FunctionalInterface
	public interface Call<T> {

		/**
		 * Makes the call.
		 * @param asking whether this server imports the slot, so that the call needs an
		 * ASKING
		 */
		T at(RedisCalls calls, boolean asking);

	}

}
