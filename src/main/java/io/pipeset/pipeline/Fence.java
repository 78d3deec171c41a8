package io.pipeset.pipeline;

import java.time.Duration;

import io.pipeset.pipeline.call.ClientIdentity;
import org.jspecify.annotations.Nullable;

/**
 * A fence between the data and the commands of a lost connection. Closing a socket does
 * not stop the commands that Redis has received already; they would run later, over newer
 * data. Once the fence stands, no command of that connection runs any more.
 */
public final class Fence {

	private final Fences fences;

	private final ClientIdentity lost;

	/** How many failovers had been seen when that connection was lent. */
	private final int switches;

	private State state;

	Fence(Fences fences, ClientIdentity lost, int switches, State state) {
		this.fences = fences;
		this.lost = lost;
		this.switches = switches;
		this.state = state;
	}

	ClientIdentity lost() {
		return this.lost;
	}

	/**
	 * Whether another connection leads to another server, or another life of the same
	 * one. The number of the lost connection may be a stranger's there.
	 * @param other another connection; {@code null} where Redis does not permit to ask
	 * which
	 * @param switches how many failovers had been seen when it was lent; they only count
	 * if a server does not tell its life
	 */
	boolean isOfAnotherLifeThan(@Nullable ClientIdentity other, int switches) {
		return (other != null && this.lost.runId() != null && other.runId() != null)
				? this.lost.isOfAnotherLifeThan(other) : this.switches != switches;
	}

	State state() {
		return this.state;
	}

	void state(State state) {
		this.state = state;
	}

	/**
	 * Waits until it is known whether the fence stands.
	 * @param patient whether to go on waiting when Redis cannot be reached
	 * @return {@link State#PENDING} where it is not known yet
	 */
	public State await(Duration timeout, boolean patient, StopSignal stop) {
		return this.fences.await(this, timeout, patient, stop);
	}

	/** The state of a fence. */
	public enum State {

		/** Redis has not answered yet; new batches wait for it. */
		PENDING,

		/** The connection is gone for Redis too. */
		CONFIRMED,

		/** Redis does not permit it. */
		REFUSED

	}

}
