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
 * The slabs of one lane, and how many of them may be unanswered. Waiting here for room is
 * the back-pressure that Lettuce does not have: the thread that reads the body waits, and
 * TCP does the rest.
 */
final class Window {

	/**
	 * The bytes that a slab counts beside its commands: its own, Lettuce's and Netty's.
	 * Many slabs of one command each would fill the heap otherwise.
	 */
	private static final int SLAB_BYTES = 8192;

	private final int maxCommands;

	private final long maxBytes;

	private final InFlightBytes inFlight;

	private final SlabMemory memory;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition room = this.lock.newCondition();

	private final Deque<Slab> free = new ArrayDeque<>();

	private int slabs;

	private int commands;

	private long bytes;

	/** The size of the slab sent last, which the next one is expected to have. */
	private int lastCommands;

	private int lastBytes;

	private boolean open;

	private long blockedNanos;

	Window(PipelineProperties properties, InFlightBytes inFlight, SlabMemory memory) {
		this.maxCommands = properties.windowCommands();
		this.maxBytes = properties.windowBytes().toBytes();
		this.inFlight = inFlight;
		this.memory = memory;
	}

	/**
	 * Takes a slab to fill. Blocks until its commands have room and the slab has memory.
	 * @throws MemoryLimitException if the job is stopped while it waits for memory
	 */
	Slab take(boolean captureAll, boolean atomic) {
		Slab free = awaitRoom();
		Slab slab = (free != null) ? free : new Slab(this.lastCommands, this.lastBytes, this.memory);
		slab.clear(captureAll, atomic);
		return slab;
	}

	private @Nullable Slab awaitRoom() {
		this.lock.lock();
		try {
			if (isFull()) {
				long since = System.nanoTime();
				while (isFull()) {
					this.room.awaitUninterruptibly();
				}
				this.blockedNanos += System.nanoTime() - since;
			}
			return this.free.poll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A filled slab goes on its way. */
	void leave(Slab slab) {
		this.lock.lock();
		try {
			this.slabs++;
			this.lastCommands = slab.count();
			this.lastBytes = slab.bytes();
			this.commands += slab.count();
			this.bytes += weight(slab);
		}
		finally {
			this.lock.unlock();
		}
		this.inFlight.add(weight(slab));
	}

	/** A slab comes back from its way, before anything is taken out of it. */
	void comeBack(Slab slab) {
		this.inFlight.add(-weight(slab));
		this.lock.lock();
		try {
			this.slabs--;
			this.commands -= slab.count();
			this.bytes -= weight(slab);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** A slab that came back can be filled anew, unless its memory is wanted. */
	void free(Slab slab) {
		this.lock.lock();
		try {
			this.free.push(slab);
			if (this.memory.isScarce() || slab.isLarge()) {
				releaseFree();
			}
			this.room.signal();
		}
		finally {
			this.lock.unlock();
		}
		this.memory.slabFreed();
	}

	/** Gives up the slabs that are kept for later, whose memory is wanted. */
	void giveUpFree() {
		this.lock.lock();
		try {
			releaseFree();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void releaseFree() {
		this.free.forEach(Slab::release);
		this.free.clear();
	}

	/** Lets the reading thread through from now on, however full the window is. */
	void open() {
		this.lock.lock();
		try {
			this.open = true;
			this.room.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Gives back the room of the slabs that are still on their way, after the lane's end.
	 */
	void close() {
		this.lock.lock();
		try {
			this.inFlight.add(-this.bytes);
			releaseFree();
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

	/** The bytes that a slab counts here. */
	static int weight(Slab slab) {
		return SLAB_BYTES + slab.bytes();
	}

	/** With less than two slabs on their way, Redis would wait for the reader. */
	private boolean isFull() {
		return !this.open && this.slabs >= 2
				&& (this.commands >= this.maxCommands || this.bytes >= this.maxBytes || this.inFlight.isFull());
	}

}
