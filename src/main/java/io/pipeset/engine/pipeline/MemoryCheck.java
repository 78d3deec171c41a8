package io.pipeset.engine.pipeline;

import java.util.concurrent.TimeUnit;

import io.pipeset.engine.pipeline.call.ServerMemory;
import org.jspecify.annotations.Nullable;

/**
 * A look at the memory of a server. Jobs that begin at about the same time share one.
 */
public final class MemoryCheck {

	/** How long a look is good enough for jobs that begin. */
	private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private long askedNanos;

	private boolean asked;

	private @Nullable ServerMemory memory;

	/**
	 * The memory of the server.
	 * @return {@code null} where it has not told it
	 */
	public synchronized @Nullable ServerMemory memory() {
		return this.memory;
	}

	/** Whether a job that begins now needs another look. */
	synchronized boolean isOld() {
		return this.asked && System.nanoTime() - this.askedNanos > PAUSE_NANOS;
	}

	/** The server is asked. */
	synchronized void asks() {
		this.askedNanos = System.nanoTime();
		this.asked = true;
	}

	/** The server has answered; {@code null} if it does not tell its memory. */
	synchronized void answered(@Nullable ServerMemory memory) {
		this.memory = memory;
	}

}
