package io.pipeset.web;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.pipeset.job.input.Caller;
import io.pipeset.web.problem.Problem;
import io.pipeset.web.problem.Problems;
import io.pipeset.web.server.CallerConnection;
import jakarta.servlet.http.HttpServletRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.http.HttpHeaders;
import org.springframework.web.ErrorResponseException;

/**
 * The places of calls that have none in the queue of jobs, so that slow ones keep no
 * threads of the web server from jobs.
 */
final class CallPlaces {

	private static final Logger logger = LoggerFactory.getLogger(CallPlaces.class);

	/** A call that takes longer than others waits for its body, or for Redis. */
	private static final long WAIT_SECONDS = 1;

	private final int most;

	private final String calls;

	private final Semaphore free;

	/** Those who read an answer that is written in a place. */
	private final Set<Caller> readers = Collections.synchronizedSet(new HashSet<>());

	/**
	 * Makes places.
	 * @param calls the calls that take them, for messages: "scripts"
	 */
	CallPlaces(int most, String calls) {
		this.most = most;
		this.calls = calls;
		this.free = new Semaphore(most, true);
	}

	/**
	 * Makes a call in a place.
	 * @throws ErrorResponseException if no place becomes free in time; nothing was done
	 */
	<T, X extends Exception> T take(Call<T, X> call) throws X {
		if (!awaitPlace()) {
			ErrorResponseException problem = Problems.exception(Problem.TOO_MANY, "There are " + this.most + " "
					+ this.calls + " under way, as many as the service takes at once: send the request again later");
			problem.getHeaders().set(HttpHeaders.RETRY_AFTER, Problems.RETRY_AFTER_SECONDS);
			throw problem;
		}
		try {
			return call.make();
		}
		finally {
			this.free.release();
		}
	}

	/**
	 * Makes a call that writes its answer in its place. Answers that are read too slowly
	 * are given up once no place is free.
	 * @throws ErrorResponseException if no place becomes free in time; nothing was done
	 */
	<T, X extends Exception> T take(HttpServletRequest request, Call<T, X> call) throws X {
		if (this.free.availablePermits() == 0) {
			endSlowReaders();
		}
		return take(() -> {
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

	private boolean awaitPlace() {
		try {
			return this.free.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	/** A call to be made. */
	@FunctionalInterface
	interface Call<T, X extends Exception> {

		T make() throws X;

	}

}
