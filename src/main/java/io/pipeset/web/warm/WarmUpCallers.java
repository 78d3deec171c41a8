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

/** Callers of the service that send the same requests again and again, all at once. */
final class WarmUpCallers {

	private static final int MOST = 4;

	private final InetSocketAddress service;

	private final SocketFactory sockets;

	private final Duration lastAnswers;

	private final Set<LoopbackConnection> connections = ConcurrentHashMap.newKeySet();

	private volatile boolean stopped;

	/**
	 * Creates them, with no connection yet.
	 * @param lastAnswers the time that the last answers may take once the time is over
	 */
	WarmUpCallers(InetSocketAddress service, SocketFactory sockets, Duration lastAnswers) {
		this.service = service;
		this.sockets = sockets;
		this.lastAnswers = lastAnswers;
	}

	/**
	 * Calls once, in this thread.
	 * @throws IOException if there is none
	 */
	Answer callOnce(byte[] request) throws IOException {
		try (LoopbackConnection connection = connect()) {
			return connection.call(request);
		}
	}

	/**
	 * Lets one caller for each processor call, but no more than four.
	 * @param requests the requests of each caller, from the first to the last, and again
	 * @return the number of jobs that ran
	 * @throws IOException if the last answers took too long: all calls have ended, for
	 * good
	 */
	int call(List<byte[]> requests, Duration time) throws IOException, InterruptedException {
		int callers = Math.min(MOST, Runtime.getRuntime().availableProcessors());
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
			answered = ended.await(time.plus(this.lastAnswers).toNanos(), TimeUnit.NANOSECONDS);
		}
		finally {
			if (!answered) {
				stop();
			}
		}
		if (!answered) {
			throw new SocketTimeoutException(
					"The last answers took longer than " + this.lastAnswers.toMillis() + " ms");
		}
		return jobs.get();
	}

	/** Ends all calls at once, for good; the jobs under way run to their end. */
	void stop() {
		this.stopped = true;
		this.connections.forEach(LoopbackConnection::close);
	}

	private LoopbackConnection connect() throws IOException {
		LoopbackConnection connection = new LoopbackConnection(this.service, this.sockets);
		this.connections.add(connection);
		if (this.stopped) {
			connection.close();
		}
		return connection;
	}

	/**
	 * Each round has a connection of its own, as Tomcat ends it after a hundred requests.
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
			// The service has closed the connection, or is stopping. The other callers go
			// on.
		}
	}

	private boolean isOver(long deadline) {
		return this.stopped || System.nanoTime() - deadline >= 0;
	}

}
