package io.pipeset.engine.pipeline;

import java.util.concurrent.TimeUnit;

import io.pipeset.engine.pipeline.call.ServerMemory;
import org.jspecify.annotations.Nullable;

/** A check of a server's memory. Jobs that begin at about the same time share one. */
public final class MemoryCheck {

	/** How long jobs that begin may share a check. */
	private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private long sentNanos;

	private boolean sent;

	private @Nullable ServerMemory memory;

	/**
	 * The memory of the server.
	 * @return {@code null} if the server has not reported it
	 */
	public synchronized @Nullable ServerMemory memory() {
		return this.memory;
	}

	/** Whether a job that begins now needs a new check. */
	synchronized boolean isOld() {
		return this.sent && System.nanoTime() - this.sentNanos > MAX_AGE_NANOS;
	}

	/** Records that the query is sent now. */
	synchronized void markSent() {
		this.sentNanos = System.nanoTime();
		this.sent = true;
	}

	/** Records the reply; {@code null} if the server does not report its memory. */
	synchronized void setMemory(@Nullable ServerMemory memory) {
		this.memory = memory;
	}

}
