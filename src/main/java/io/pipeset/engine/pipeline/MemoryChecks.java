package io.pipeset.engine.pipeline;

import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.RedisCalls;
import io.pipeset.engine.pipeline.call.ServerMemory;
import org.jspecify.annotations.Nullable;

/**
 * Checks the memory of one server while jobs run. When jobs begin, at most one check a
 * second is sent. It goes out on a batch's connection before its records, so that no job
 * waits for the reply.
 */
public final class MemoryChecks {

	private final RedisCalls calls;

	private final boolean enabled;

	/** The check that the next batch sends. */
	private final AtomicReference<@Nullable MemoryCheck> due = new AtomicReference<>();

	private @Nullable MemoryCheck last;

	private volatile @Nullable ServerMemory newest;

	MemoryChecks(RedisCalls calls, boolean enabled) {
		this.calls = calls;
		this.enabled = enabled;
	}

	/**
	 * Returns a check for a job that begins.
	 * @return the last check if it is unsent or at most a second old, else a new one,
	 * which the next batch sends; {@code null} if checks are disabled
	 */
	public synchronized @Nullable MemoryCheck begin() {
		if (!this.enabled) {
			return null;
		}
		MemoryCheck check = this.last;
		if (check == null || check.isOld()) {
			check = new MemoryCheck();
			this.last = check;
			this.due.set(check);
		}
		return check;
	}

	/**
	 * Sends the check that is due, if there is one, when a batch begins.
	 * @param pipeline the connection of the batch, on which nothing was sent yet
	 */
	public void ask(Pipeline pipeline) {
		MemoryCheck check = (this.due.get() != null) ? this.due.getAndSet(null) : null;
		if (check == null) {
			return;
		}
		InfoExchange info = new InfoExchange(ServerMemory.SECTIONS);
		check.markSent();
		pipeline.send(info, () -> {
			if (info.isAnswered()) {
				answered(check, ServerMemory.of(info.text()));
			}
			else {
				// Let the next batch send it again: that connection may be answered.
				this.due.compareAndSet(null, check);
			}
		});
	}

	/**
	 * Queries the memory at once, when a job ends. The next job may share this check.
	 * @return the memory, or {@code null} if the server does not report it
	 * @throws RedisCallException if the server does not answer
	 */
	public @Nullable ServerMemory end() {
		MemoryCheck check = new MemoryCheck();
		check.markSent();
		ServerMemory memory = this.calls.memory();
		answered(check, memory);
		synchronized (this) {
			this.last = check;
		}
		return memory;
	}

	private void answered(MemoryCheck check, @Nullable ServerMemory memory) {
		check.setMemory(memory);
		this.newest = memory;
	}

	/**
	 * The memory that the server reported last.
	 * @return {@code null} if it has not reported it
	 */
	public @Nullable ServerMemory newest() {
		return this.newest;
	}

}
