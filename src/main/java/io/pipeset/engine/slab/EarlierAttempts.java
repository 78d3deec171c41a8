package io.pipeset.engine.slab;

import java.util.Arrays;
import java.util.BitSet;

import org.jspecify.annotations.Nullable;

/**
 * The earlier attempts to run a slab's commands, and the losses of commands that may have
 * run. A loss is kept until Redis answers that the command ran, however often the command
 * is sent again.
 */
final class EarlierAttempts {

	private static final @Nullable Loss[] NONE = new Loss[0];

	/** The first loss of each command; {@code null} for a command that was not lost. */
	private @Nullable Loss[] firstLosses = NONE;

	private boolean written;

	void clear() {
		this.firstLosses = NONE;
		this.written = false;
	}

	/** Notes that a command was lost. Only its first loss is kept. */
	void add(int command, Loss loss) {
		if (this.firstLosses.length <= command) {
			this.firstLosses = Arrays.copyOf(this.firstLosses, Math.max(command + 1, this.firstLosses.length * 2));
		}
		if (this.firstLosses[command] == null) {
			this.firstLosses[command] = loss;
		}
	}

	void add(BitSet commands, int from, Loss loss) {
		commands.stream().filter((command) -> command >= from).forEach((command) -> add(command, loss));
	}

	/** Notes that an earlier run of the job may have run a command. */
	void addEarlierRun(int command) {
		this.written = true;
		add(command, Loss.OF_SERVICE);
	}

	/**
	 * Whether the slab, or an earlier run of its job, may have sent some of the commands.
	 */
	boolean isAnyWritten() {
		return this.written;
	}

	/**
	 * Ends an attempt, and keeps only some commands in their order.
	 * @param some the positions of the kept commands
	 * @param wasWritten whether the attempt was written
	 */
	void retain(BitSet some, boolean wasWritten) {
		this.written |= wasWritten;
		if (this.firstLosses.length == 0) {
			return;
		}
		this.firstLosses = some.stream().mapToObj(this::of).toArray(Loss[]::new);
	}

	/** How a command was first lost, or {@code null} if it certainly did not run. */
	@Nullable Loss of(int command) {
		return (command < this.firstLosses.length) ? this.firstLosses[command] : null;
	}

}
