package io.pipeset.engine.pipeline;

import java.util.concurrent.atomic.AtomicReference;

import io.pipeset.engine.pipeline.call.RedisCallException;
import io.pipeset.engine.pipeline.call.RedisCalls;
import io.pipeset.engine.pipeline.call.ServerMemory;
import io.pipeset.engine.slab.lookup.InfoLookup;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the memory of one server while jobs run: where they begin, once a second at
 * most, on the connection of a batch and ahead of its records, so that nobody waits for
 * it.
 */
public final class MemoryChecks {

	private final RedisCalls calls;

	private final boolean enabled;

	/** The look that the next batch asks for. */
	private final AtomicReference<@Nullable MemoryCheck> due = new AtomicReference<>();

	private @Nullable MemoryCheck last;

	private volatile @Nullable ServerMemory newest;

	MemoryChecks(RedisCalls calls, boolean enabled) {
		this.calls = calls;
		this.enabled = enabled;
	}

	/**
	 * A job begins.
	 * @return the look of a second ago at most, or the one that the next batch asks for;
	 * {@code null} where nobody looks
	 */
	public synchronized @Nullable MemoryCheck begin() {
		if (!this.enabled) {
			return null;
		}
		MemoryCheck look = this.last;
		if (look == null || look.isOld()) {
			look = new MemoryCheck();
			this.last = look;
			this.due.set(look);
		}
		return look;
	}

	/**
	 * A batch begins: asks for the look that is due, if there is one.
	 * @param pipeline the connection of the batch, on which nothing was sent yet
	 */
	public void ask(Pipeline pipeline) {
		MemoryCheck look = (this.due.get() != null) ? this.due.getAndSet(null) : null;
		if (look == null) {
			return;
		}
		InfoLookup lookup = new InfoLookup(ServerMemory.SECTIONS);
		look.asks();
		pipeline.send(lookup, () -> {
			if (lookup.isAnswered()) {
				answered(look, ServerMemory.of(lookup.text()));
			}
			else {
				// The next connection may well be answered.
				this.due.compareAndSet(null, look);
			}
		});
	}

	/**
	 * A job ends: asks at once. The next job may begin with this look.
	 * @return the memory, or {@code null} where the server does not tell it
	 * @throws RedisCallException if the server does not answer
	 */
	public @Nullable ServerMemory end() {
		MemoryCheck look = new MemoryCheck();
		look.asks();
		ServerMemory memory = this.calls.memory();
		answered(look, memory);
		synchronized (this) {
			this.last = look;
		}
		return memory;
	}

	private void answered(MemoryCheck look, @Nullable ServerMemory memory) {
		look.answered(memory);
		this.newest = memory;
	}

	/**
	 * The memory as the server told it last.
	 * @return {@code null} where it has not
	 */
	public @Nullable ServerMemory newest() {
		return this.newest;
	}

}
