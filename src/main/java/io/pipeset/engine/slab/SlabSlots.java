package io.pipeset.engine.slab;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;

import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/**
 * The cluster slots of a slab's commands, and the redirections of these commands. If a
 * moving key may already be at the new node, its command follows an ASKING, for one
 * attempt only.
 */
public final class SlabSlots {

	private final Commands commands;

	private final Attempt attempt;

	private final BitSet toResend;

	/** The commands that follow an ASKING at the next attempt. */
	private final BitSet asking = new BitSet(0);

	/**
	 * When a command was first redirected, of {@link System#nanoTime()}; 0 if none was.
	 */
	private long redirectedSince;

	SlabSlots(Commands commands, Attempt attempt, BitSet toResend) {
		this.commands = commands;
		this.attempt = attempt;
		this.toResend = toResend;
	}

	void clear() {
		this.redirectedSince = 0;
		this.asking.clear();
	}

	/**
	 * Ends the choice of the commands that follow an ASKING, when the slab keeps only
	 * some commands.
	 * @param kept the old positions of the kept commands
	 * @return the new positions of the commands that follow an ASKING
	 */
	BitSet takeAsking(BitSet kept) {
		BitSet positions = new BitSet(0);
		this.asking.stream().forEach((command) -> positions.set(kept.get(0, command).cardinality()));
		this.asking.clear();
		return positions;
	}

	/**
	 * Sends a command after an ASKING at the next attempt.
	 * @param command its position, as given by {@link #eachAgain}
	 */
	public void ask(int command) {
		this.asking.set(command);
	}

	/** Cancels ASKING for all commands. */
	public void clearAsking() {
		this.attempt.setAsking(new BitSet(0));
	}

	/**
	 * When a command of the slab was first redirected. The first call since the slab was
	 * filled sets the time.
	 * @param now the current {@link System#nanoTime()}
	 * @return the {@link System#nanoTime()} of the first call
	 */
	public long redirectedSince(long now) {
		this.redirectedSince = (this.redirectedSince != 0) ? this.redirectedSince : now;
		return this.redirectedSince;
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
		for (int command = answered; this.attempt.isUnknown() && command < this.commands.count(); command++) {
			int slot = of(this.commands, command);
			slots.set(Math.max(slot, 0), (slot >= 0) ? slot + 1 : Slots.COUNT);
		}
		return slots;
	}

	/** Passes the commands to send again to a visitor, in their order. */
	public void eachAgain(Redirect.Visitor visitor) {
		SlabErrors errors = this.attempt.errors();
		NotableReplies notableReplies = this.attempt.replies().notableReplies();
		Redirect all = (this.commands.areAtomic()) ? errors.transactionRedirect() : null;
		int notable = 0;
		for (int command = this.toResend.nextSetBit(0); command >= 0; command = this.toResend.nextSetBit(command + 1)) {
			while (notable < notableReplies.count() && notableReplies.position(notable) < command) {
				notable++;
			}
			boolean found = !this.commands.areAtomic() && notable < notableReplies.count()
					&& notableReplies.position(notable) == command;
			@Nullable Redirect redirect = (found) ? errors.redirect(notable) : all;
			visitor.visit(command, of(this.commands, command), redirect);
		}
	}

	/** The keys of a command that {@link #eachAgain} has passed to a visitor. */
	public List<ByteBuffer> keys(int command) {
		return this.commands.keys(command);
	}

	/** The slot of a command's first key, or -1 for a script without keys. */
	static int of(Commands commands, int command) {
		List<ByteBuffer> keys = commands.keys(command);
		return (keys.isEmpty()) ? Slots.NONE
				: Slots.of(commands.resp(), keys.get(0).position(), keys.get(0).remaining());
	}

}
