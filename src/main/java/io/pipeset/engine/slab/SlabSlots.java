package io.pipeset.engine.slab;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/** The cluster slots of a slab's commands, and the redirections of these commands. */
public final class SlabSlots {

	private final Commands commands;

	private final Attempt attempt;

	private final BitSet toResend;

	SlabSlots(Commands commands, Attempt attempt, BitSet toResend) {
		this.commands = commands;
		this.attempt = attempt;
		this.toResend = toResend;
	}

	/**
	 * The slot of the first command.
	 * @return the slot, or -1 for a script without keys
	 */
	public int first() {
		return of(this.commands, 0);
	}

	/**
	 * The slots of the commands that may have run without an answer. A script without
	 * keys counts for all slots.
	 * @return the slots; empty if the outcome of all commands is known
	 */
	public BitSet unknown() {
		BitSet slots = new BitSet();
		int answered = (this.commands.areAtomic()) ? 0 : this.attempt.replies().count();
		for (int command = answered; this.attempt.isUnknown(command); command++) {
			int slot = of(this.commands, command);
			slots.set(Math.max(slot, 0), (slot >= 0) ? slot + 1 : Slots.COUNT);
		}
		return slots;
	}

	/**
	 * The redirection of the first command that is sent again.
	 * @return the redirection, or {@code null} if the command got none
	 */
	public @Nullable Redirect firstRedirect() {
		SlabErrors errors = this.attempt.errors();
		if (this.commands.areAtomic()) {
			return errors.transactionRedirect();
		}
		NotableReplies notableReplies = this.attempt.replies().notableReplies();
		int first = this.toResend.nextSetBit(0);
		return IntStream.range(0, notableReplies.count())
			.filter((notable) -> notableReplies.position(notable) == first)
			.mapToObj(errors::redirect)
			.findFirst()
			.orElse(null);
	}

	/** The slot of a command's first key, or -1 for a script without keys. */
	static int of(Commands commands, int command) {
		List<ByteBuffer> keys = commands.keys(command);
		return (keys.isEmpty()) ? Slots.NONE
				: Slots.of(commands.resp(), keys.get(0).position(), keys.get(0).remaining());
	}

}
