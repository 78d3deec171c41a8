package io.pipeset.web.warm;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.net.SocketFactory;

import io.pipeset.web.warm.LoopbackConnection.Answer;

import org.springframework.http.HttpStatus;

/** Callers of the service that concurrently repeat the same requests. */
final class WarmUpCallers {

	private static final int MAX_CALLERS = 4;

	private final InetSocketAddress service;

	private final SocketFactory socketFactory;

	private final Duration lastAnswersTimeout;

	private final Set<LoopbackConnection> connections = ConcurrentHashMap.newKeySet();

	private volatile boolean stopped;

	/**
	 * Creates callers that have no connections yet.
	 * @param lastAnswersTimeout how long {@link #call} waits for the last responses after
	 * its time is over
	 */
	WarmUpCallers(InetSocketAddress service, SocketFactory socketFactory, Duration lastAnswersTimeout) {
		this.service = service;
		this.socketFactory = socketFactory;
		this.lastAnswersTimeout = lastAnswersTimeout;
	}

	/**
	 * Sends one request in this thread.
	 * @return the response
	 * @throws IOException if there is no response
	 */
	Answer callOnce(byte[] request) throws IOException {
		try (LoopbackConnection connection = connect()) {
			return connection.call(request);
		}
	}

	/**
	 * Starts one caller for each processor, but at most four, and waits for them.
	 * @param requests the requests that each caller sends in turn and repeats
	 * @param time how long the callers send requests
	 * @return the number of requests answered with 200
	 * @throws IOException if the last responses take too long. All calls have ended then,
	 * and later calls fail
	 */
	int call(List<byte[]> requests, Duration time) throws IOException, InterruptedException {
		int callers = Math.min(MAX_CALLERS, Runtime.getRuntime().availableProcessors());
		AtomicInteger jobs = new AtomicInteger();
		CountDownLatch ended = new CountDownLatch(callers);
		long deadline = System.nanoTime() + time.toNanos();
		for (int i = 0; i < callers; i++) {
			int first = i;
			Thread thread = new Thread(() -> {
				try {
					callUntil(deadline, requests, first, jobs);
				}
				finally {
					ended.countDown();
				}
			}, "warm-up-" + i);
			thread.setDaemon(true);
			thread.start();
		}
		boolean answered = false;
		try {
			answered = ended.await(time.plus(this.lastAnswersTimeout).toNanos(), TimeUnit.NANOSECONDS);
		}
		finally {
			if (!answered) {
				stop();
			}
		}
		if (!answered) {
			throw new SocketTimeoutException(
					"The last answers took longer than " + this.lastAnswersTimeout.toMillis() + " ms");
		}
		return jobs.get();
	}

	/** Ends all calls now, and makes later calls fail. Jobs that run continue. */
	void stop() {
		this.stopped = true;
		this.connections.forEach(LoopbackConnection::close);
	}

	private LoopbackConnection connect() throws IOException {
		LoopbackConnection connection = new LoopbackConnection(this.service, this.socketFactory);
		this.connections.add(connection);
		if (this.stopped) {
			connection.close();
		}
		return connection;
	}

	/**
	 * Sends requests in rounds. Each round uses a new connection, because Tomcat ends a
	 * connection after a hundred requests.
	 */
	private void callUntil(long deadline, List<byte[]> requests, int first, AtomicInteger jobs) {
		try {
			while (!isOver(deadline)) {
				try (LoopbackConnection connection = connect()) {
					for (int i = 0; i < requests.size() && !isOver(deadline); i++) {
						Answer answer = connection.call(requests.get((first + i) % requests.size()));
						if (answer.status() == HttpStatus.OK.value()) {
							jobs.incrementAndGet();
						}
					}
					this.connections.remove(connection);
				}
			}
		}
		catch (IOException ex) {
			// The service has closed the connection or is stopping. The other callers
			// continue.
		}
	}

	private boolean isOver(long deadline) {
		return this.stopped || System.nanoTime() - deadline >= 0;
	}

}
