package io.pipeset.slab;

import java.util.Arrays;
import java.util.BitSet;

import org.jspecify.annotations.Nullable;

/**
 * The commands of a slab that may have run at an attempt before, and how that one was
 * lost. It stays true when they are sent again, whatever becomes of that: only an answer
 * that they ran says more.
 */
final class EarlierLosses {

	private static final @Nullable Loss[] NONE = new Loss[0];

	/** The first loss of each command, as far as there was one. */
	private @Nullable Loss[] first = NONE;

	void clear() {
		this.first = NONE;
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

	/** Forgets all commands but some, which stay in their order. */
	void retain(BitSet some) {
		if (this.first.length == 0) {
			return;
		}
		this.first = some.stream().mapToObj(this::of).toArray(Loss[]::new);
	}

	/** How a command was lost first; {@code null} where it certainly did not run. */
	@Nullable Loss of(int command) {
		return (command < this.first.length) ? this.first[command] : null;
	}

}
