package io.pipeset.engine.lane;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.pipeset.engine.pipeline.PipelineProperties;
import io.pipeset.engine.slab.Slab;
import io.pipeset.record.memory.MemoryLimitException;
import org.jspecify.annotations.Nullable;

/**
 * The slabs of one lane, and a limit on how many may be unanswered. Lettuce has no such
 * back-pressure. The thread that reads the body waits here, and TCP slows down the
 * client.
 */
final class Window {

	/**
	 * Bytes that each slab counts in addition to its commands, for its own objects and
	 * those of Lettuce and Netty. Without them, many slabs of one command each would fill
	 * the heap.
	 */
	private static final int SLAB_OVERHEAD_BYTES = 8192;

	private final int maxCommands;

	private final long maxBytes;

	private final InFlightBytes inFlight;

	private final SlabMemory memory;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition notFull = this.lock.newCondition();

	private final Deque<Slab> free = new ArrayDeque<>();

	private int slabs;

	private int commands;

	private long bytes;

	/** The size of the slab sent last. A new slab is created with the same capacity. */
	private int lastCommands;

	private int lastBytes;

	private boolean unlimited;

	private long blockedNanos;

	Window(PipelineProperties properties, InFlightBytes inFlight, SlabMemory memory) {
		this.maxCommands = properties.windowCommands();
		this.maxBytes = properties.windowBytes().toBytes();
		this.inFlight = inFlight;
		this.memory = memory;
	}

	/**
	 * Takes a slab to fill. Blocks while the window is full, or until the slab has
	 * memory.
	 * @throws MemoryLimitException if the job is stopped while it waits for memory
	 */
	Slab take(boolean captureAll, boolean atomic) {
		Slab free = awaitNotFull();
		Slab slab = (free != null) ? free : new Slab(this.lastCommands, this.lastBytes, this.memory);
		slab.clear(captureAll, atomic);
		return slab;
	}

	private @Nullable Slab awaitNotFull() {
		this.lock.lock();
		try {
			if (isFull()) {
				long since = System.nanoTime();
				while (isFull()) {
					this.notFull.awaitUninterruptibly();
				}
				this.blockedNanos += System.nanoTime() - since;
			}
			return this.free.poll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Adds a slab that is to be sent. */
	void add(Slab slab) {
		this.lock.lock();
		try {
			this.slabs++;
			this.lastCommands = slab.count();
			this.lastBytes = slab.bytes();
			this.commands += slab.count();
			this.bytes += windowBytes(slab);
		}
		finally {
			this.lock.unlock();
		}
		this.inFlight.add(windowBytes(slab));
	}

	/** Removes a slab that is done, before its commands are cleared. */
	void remove(Slab slab) {
		this.inFlight.add(-windowBytes(slab));
		this.lock.lock();
		try {
			this.slabs--;
			this.commands -= slab.count();
			this.bytes -= windowBytes(slab);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Keeps a slab to be filled again, unless its memory is needed. */
	void recycle(Slab slab) {
		this.lock.lock();
		try {
			this.free.push(slab);
			if (this.memory.isScarce() || slab.isLarge()) {
				clearFree();
			}
			this.notFull.signal();
		}
		finally {
			this.lock.unlock();
		}
		this.memory.slabFreed();
	}

	/** Releases the memory of all free slabs. */
	void releaseFree() {
		this.lock.lock();
		try {
			clearFree();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void clearFree() {
		this.free.forEach(Slab::release);
		this.free.clear();
	}

	/** Removes the limit, so the reading thread no longer waits here. */
	void removeLimit() {
		this.lock.lock();
		try {
			this.unlimited = true;
			this.notFull.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Releases what is still counted for the lane, after its end. */
	void close() {
		this.lock.lock();
		try {
			this.inFlight.add(-this.bytes);
			clearFree();
			this.slabs = 0;
			this.commands = 0;
			this.bytes = 0;
		}
		finally {
			this.lock.unlock();
		}
	}

	long blockedNanos() {
		return this.blockedNanos;
	}

	/** The bytes that a slab counts in the window. */
	static int windowBytes(Slab slab) {
		return SLAB_OVERHEAD_BYTES + slab.bytes();
	}

	/**
	 * Whether the reading thread has to wait. Two slabs may always be in flight, because
	 * Redis would otherwise wait for the reader.
	 */
	private boolean isFull() {
		return !this.unlimited && this.slabs >= 2
				&& (this.commands >= this.maxCommands || this.bytes >= this.maxBytes || this.inFlight.isFull());
	}

}
