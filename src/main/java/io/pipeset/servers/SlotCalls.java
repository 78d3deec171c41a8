package io.pipeset.servers;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.pipeset.pipeline.RedisNode;
import io.pipeset.pipeline.call.NoConnectionException;
import io.pipeset.pipeline.call.RedisCallException;
import io.pipeset.pipeline.call.RedisCalls;
import io.pipeset.slab.Redirect;
import io.pipeset.slab.Redirect.Kind;

/**
 * Makes single calls about keys of one slot, at the master that has the slot. If the slot
 * moves, the call follows it: a call that was redirected has not run. A single server has
 * all slots, and redirects nothing.
 */
public final class SlotCalls {

	/** How long a call is redirected, or waits for its slot, before it fails. */
	private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(2);

	private static final long LONGEST_PAUSE_MILLIS = 100;

	private final RedisNodes nodes;

	public SlotCalls(RedisNodes nodes) {
		this.nodes = nodes;
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
		return follow(slot, (calls, asking) -> calls.evalRepeatable(asking, lua, keys, arguments));
	}

	/**
	 * Runs a script, and never twice.
	 * @param slot the slot of all its keys
	 * @param lua the script, which answers an array
	 * @return the array: numbers, byte arrays and such arrays
	 * @throws RedisCallException if Redis refuses it or does not answer
	 */
	public List<Object> evalOnce(int slot, String lua, List<byte[]> keys, List<byte[]> arguments) {
		return follow(slot, (calls, asking) -> calls.evalOnce(asking, lua, keys, arguments));
	}

	/**
	 * The master that a call goes to.
	 * @throws RedisCallException if the slot has no master, or nothing is known yet
	 */
	public RedisNode owner(int slot) {
		try {
			RedisNode owner = this.nodes.owners().owner(slot);
			if (owner != null) {
				return owner;
			}
			this.nodes.refresh();
			throw new NoConnectionException("the cluster", "slot " + slot + " has no master now");
		}
		catch (NoConnectionException ex) {
			throw RedisCallException.unreachable(ex);
		}
	}

	private List<Object> follow(int slot, Call call) {
		long begun = System.nanoTime();
		RedisNode node = owner(slot);
		boolean asking = false;
		for (int round = 0;; round++) {
			try {
				return call.at(node.calls(), asking);
			}
			catch (RedisCallException ex) {
				Redirect redirect = ex.redirect();
				if (redirect == null || System.nanoTime() - begun > MOST_NANOS || !pause(redirect, round)) {
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
				node = (target != null) ? target : owner(slot);
			}
		}
	}

	/**
	 * Pauses before a call that cannot run now, or was redirected more than once;
	 * {@code false} if the thread is to end.
	 */
	private static boolean pause(Redirect redirect, int round) {
		if (round > 1 || redirect.target().isEmpty()) {
			long millis = Math.min(LONGEST_PAUSE_MILLIS, 5L << Math.min(round, 10));
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
		}
		return !Thread.currentThread().isInterrupted();
	}

	/** A call to one node. */
	@FunctionalInterface
	private interface Call {

		List<Object> at(RedisCalls calls, boolean asking);

	}

}
