package io.pipeset.service;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Sends a chunk of one byte on each of a number of uploads, ten times a second. */
public final class Trickle implements AutoCloseable {

	private static final long PERIOD_MILLIS = 100;

	private final ScheduledExecutorService sender = Executors.newSingleThreadScheduledExecutor();

	private final Set<Wire> uploads = new HashSet<>();

	private final Future<?> sending = this.sender.scheduleWithFixedDelay(this::send, 0, PERIOD_MILLIS,
			TimeUnit.MILLISECONDS);

	public synchronized Wire add(Wire upload) {
		this.uploads.add(upload);
		return upload;
	}

	public synchronized Wire remove(Wire upload) {
		this.uploads.remove(upload);
		return upload;
	}

	private synchronized void send() {
		this.uploads.removeIf((upload) -> !send(upload));
	}

	private static boolean send(Wire upload) {
		try {
			upload.chunk(" ");
			return true;
		}
		catch (IOException ex) {
			// The upload was answered, and its connection closed.
			return false;
		}
	}

	@Override
	public void close() {
		this.sending.cancel(false);
		this.sender.shutdownNow();
	}

}
