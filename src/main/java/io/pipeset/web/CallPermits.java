package io.pipeset.web;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Semaphore;

import io.pipeset.job.Client;
import io.pipeset.job.ClientPermits;
import io.pipeset.job.input.Caller;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.web.ErrorResponseException;

/**
 * The places of calls that have none in the queue of jobs, so that slow ones keep no
 * threads of the web server from jobs. As many calls may wait for a place as there are
 * places: each that waits has a thread as well.
 */
final class CallPermits {

	private static final Logger logger = LoggerFactory.getLogger(CallPermits.class);

	/** A call that takes longer than others waits for its body, or for Redis. */
	private static final long WAIT_MILLIS = 1000;

	private final long waitMillis;

	private final String calls;

	private final ClientPermits places;

	private final Semaphore waiting;

	/** Those who read an answer that is written in a place. */
	private final Set<Caller> readers = Collections.synchronizedSet(new HashSet<>());

	/**
	 * Makes places.
	 * @param calls the calls that take them, for messages: "scripts"
	 */
	CallPermits(int most, String calls) {
		this(most, calls, WAIT_MILLIS);
	}

	/** Makes places for which calls wait for another time than usual. */
	CallPermits(int most, String calls, long waitMillis) {
		this.waitMillis = waitMillis;
		this.calls = calls;
		this.places = new ClientPermits(most, calls + " under way", "the service takes at once");
		this.waiting = new Semaphore(most);
	}

	/**
	 * Makes a call in a place.
	 * @throws ErrorResponseException if no place becomes free in time; nothing was done
	 */
	<T, X extends Exception> T take(Client client, Call<T, X> call) throws X {
		if (!this.places.tryTake(client) && !awaitPlace(client)) {
			throw Problems.exception(Problem.TOO_MANY, this.places.refusal(client) + ": send the request again later");
		}
		try {
			return call.make();
		}
		finally {
			this.places.leave(client);
		}
	}

	/**
	 * Makes a call that writes its answer in its place. Answers that are read too slowly
	 * are given up once no place is free.
	 * @throws ErrorResponseException if no place becomes free in time; nothing was done
	 */
	<T, X extends Exception> T take(Client client, HttpServletRequest request, Call<T, X> call) throws X {
		if (this.places.areTaken()) {
			endSlowReaders();
		}
		return take(client, () -> {
			Caller reader = CallerConnection.of(request);
			this.readers.add(reader);
			try {
				return call.make();
			}
			finally {
				this.readers.remove(reader);
			}
		});
	}

	private void endSlowReaders() {
		// None of them leaves meanwhile, and has another request on its connection.
		synchronized (this.readers) {
			long ended = this.readers.stream()
				.filter((reader) -> reader instanceof CallerConnection connection && connection.endIfReadTooSlowly())
				.count();
			if (ended > 0) {
				logger.warn("Some {} were read too slowly while others needed their places: {} connections were ended",
						this.calls, ended);
			}
		}
	}

	private boolean awaitPlace(Client client) {
		if (!this.waiting.tryAcquire()) {
			return false;
		}
		try {
			return this.places.tryTake(client, this.waitMillis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		finally {
			this.waiting.release();
		}
	}

	/** A call to be made. */
	@FunctionalInterface
	interface Call<T, X extends Exception> {

		T make() throws X;

	}

}
