package io.pipeset.engine.pipeline;

import java.time.Duration;

import io.pipeset.engine.pipeline.call.ClientIdentity;

/**
 * A fence that protects data from the commands of a lost connection. Closing a socket
 * does not stop commands that Redis has already received: they would run later, on newer
 * data. When the fence is confirmed, no command of that connection runs any more.
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
	 * Whether an earlier service process lost the connection. Its client ID is then only
	 * valid if the server reports the same run ID.
	 */
	boolean isOfEarlierProcess() {
		return this.ofEarlierProcess;
	}

	State state() {
		return this.state;
	}

	void setState(State state) {
		this.state = state;
	}

	/**
	 * Waits until the state of the fence is known.
	 * @param keepWaiting whether to keep waiting while Redis cannot be reached
	 * @return {@link State#PENDING} if the state is not known yet
	 */
	public State await(Duration timeout, boolean keepWaiting, StopSignal stop) {
		return this.fences.await(this, timeout, keepWaiting, stop);
	}

	/** The state of a fence. */
	public enum State {

		/** Redis has not answered yet. New batches wait for the fence. */
		PENDING,

		/** The connection is closed at Redis too. */
		CONFIRMED,

		/** Redis does not permit the fence. */
		REFUSED

	}

}
