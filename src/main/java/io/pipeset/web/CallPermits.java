package io.pipeset.web;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Semaphore;

import io.pipeset.input.Caller;
import io.pipeset.request.Client;
import io.pipeset.request.ClientPermits;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.web.ErrorResponseException;

/**
 * Limits how many calls of a kind run at once. It is for calls that are not in the queue
 * of jobs, so that slow calls do not take the web server's threads from jobs. As many
 * calls may wait as there are permits, because a call that waits holds a thread as well.
 */
final class CallPermits {

	private static final Logger logger = LoggerFactory.getLogger(CallPermits.class);

	/** Usual calls end sooner. A slow call waits for its body or for Redis. */
	private static final long WAIT_MILLIS = 1000;

	private final long waitMillis;

	/** The name of the calls, for messages. */
	private final String calls;

	private final ClientPermits permits;

	private final Semaphore waiting;

	/** The callers whose responses are being written. */
	private final Set<Caller> readers = Collections.synchronizedSet(new HashSet<>());

	/**
	 * Creates permits.
	 * @param total the most calls that run at once
	 * @param calls the name of the calls, for messages: "scripts"
	 */
	CallPermits(int total, String calls) {
		this(total, calls, WAIT_MILLIS);
	}

	/**
	 * Creates permits with another wait than usual.
	 * @param waitMillis the longest wait for a permit, in milliseconds
	 */
	CallPermits(int total, String calls, long waitMillis) {
		this.waitMillis = waitMillis;
		this.calls = calls;
		this.permits = new ClientPermits(total, calls + " under way", "the service takes at once");
		this.waiting = new Semaphore(total);
	}

	/**
	 * Runs a call with a permit.
	 * @throws ErrorResponseException if no permit becomes free in time; the call did not
	 * run
	 */
	<T, X extends Exception> T run(Client client, PermittedCall<T, X> call) throws X {
		if (!this.permits.tryReserve(client) && !awaitPermit(client)) {
			throw Problems.exception(Problem.TOO_MANY, this.permits.refusal(client) + ": send the request again later");
		}
		try {
			return call.run();
		}
		finally {
			this.permits.leave(client);
		}
	}

	/**
	 * Runs a call that writes its response while it holds the permit. If no permit is
	 * free, this method ends the connections of callers that read too slowly.
	 * @throws ErrorResponseException if no permit becomes free in time; the call did not
	 * run
	 */
	<T, X extends Exception> T run(Client client, HttpServletRequest request, PermittedCall<T, X> call) throws X {
		if (this.permits.areTaken()) {
			endSlowReaders();
		}
		return run(client, () -> {
			Caller reader = CallerConnection.of(request);
			this.readers.add(reader);
			try {
				return call.run();
			}
			finally {
				this.readers.remove(reader);
			}
		});
	}

	private void endSlowReaders() {
		// The lock keeps the readers in the set: none serves another request yet.
		synchronized (this.readers) {
			long ended = this.readers.stream()
				.filter((reader) -> reader instanceof CallerConnection connection && connection.endIfReadTooSlowly())
				.count();
			if (ended > 0) {
				logger.warn("Ended {} connections, because their callers read {} too slowly while no permit was free",
						ended, this.calls);
			}
		}
	}

	private boolean awaitPermit(Client client) {
		if (!this.waiting.tryAcquire()) {
			return false;
		}
		try {
			return this.permits.tryReserve(client, this.waitMillis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		finally {
			this.waiting.release();
		}
	}

	/** A call that needs a permit. */
	@FunctionalInterface
	interface PermittedCall<T, X extends Exception> {

		T run() throws X;

	}

}
