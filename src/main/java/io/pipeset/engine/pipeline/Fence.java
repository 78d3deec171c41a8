package io.pipeset.engine.pipeline;

import java.time.Duration;

import io.pipeset.engine.pipeline.call.ClientIdentity;

/**
 * A fence between the data and the commands of a lost connection. Closing a socket does
 * not stop the commands that Redis has received already; they would run later, over newer
 * data. Once the fence stands, no command of that connection runs any more.
 */
public final class Fence {

	private final Fences fences;

	private final ClientIdentity lost;

	private final boolean ofEarlierProcess;

	private State state;

	Fence(Fences fences, ClientIdentity lost, boolean ofEarlierProcess, State state) {
		this.fences = fences;
		this.lost = lost;
		this.ofEarlierProcess = ofEarlierProcess;
		this.state = state;
	}

	ClientIdentity lost() {
		return this.lost;
	}

	/**
	 * Whether an earlier process lost the connection, so that its number says nothing
	 * unless the server tells its life.
	 */
	boolean isOfEarlierProcess() {
		return this.ofEarlierProcess;
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
