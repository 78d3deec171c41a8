package io.pipeset.engine.slab;

import java.util.Arrays;
import java.util.BitSet;

import org.jspecify.annotations.Nullable;

/**
 * The earlier attempts to run a slab's commands: whether there was one, and how commands
 * were lost that may have run. A loss is remembered however often its command is sent
 * again: only the answer that the command ran makes it known.
 */
final class EarlierAttempts {

	private static final @Nullable Loss[] NONE = new Loss[0];

	/** The first loss of each command; {@code null} for a command without one. */
	private @Nullable Loss[] first = NONE;

	private boolean written;

	void clear() {
		this.first = NONE;
		this.written = false;
	}

	/** Notes that a command was lost, unless it was lost before. */
	void add(int command, Loss loss) {
		if (this.first.length <= command) {
			this.first = Arrays.copyOf(this.first, Math.max(command + 1, this.first.length * 2));
		}
		if (this.first[command] == null) {
			this.first[command] = loss;
		}
	}

	/** Notes that some commands were lost, from one on. */
	void add(BitSet commands, int from, Loss loss) {
		commands.stream().filter((command) -> command >= from).forEach((command) -> add(command, loss));
	}

	/** Notes that an earlier run of the job may have run a command. */
	void addOfService(int command) {
		this.written = true;
		add(command, Loss.OF_SERVICE);
	}

	/** Whether the slab was written before. */
	boolean areWritten() {
		return this.written;
	}

	/**
	 * Adds the attempt that is over now, and keeps only some commands, in their order.
	 * @param some their positions
	 */
	void retain(BitSet some, boolean wasWritten) {
		this.written |= wasWritten;
		if (this.first.length == 0) {
			return;
		}
		this.first = some.stream().mapToObj(this::of).toArray(Loss[]::new);
	}

	/** How a command was lost first, or {@code null} if it certainly did not run. */
	@Nullable Loss of(int command) {
		return (command < this.first.length) ? this.first[command] : null;
	}

}
