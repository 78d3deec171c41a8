package io.pipeset.engine.slab;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;

import io.pipeset.record.Slots;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a slab's commands, and what a cluster has said of them. A command that is
 * sent again where its key may be already goes behind an ASKING, at that attempt only.
 */
public final class SlabSlots {

	private final Commands commands;

	private final Attempt attempt;

	/** The commands that are to be sent again. */
	private final BitSet again;

	/** The commands that are to go behind an ASKING. */
	private final BitSet asking = new BitSet(0);

	/** When a command was redirected first; 0 if none was. */
	private long redirectedSince;

	SlabSlots(Commands commands, Attempt attempt, BitSet again) {
		this.commands = commands;
		this.attempt = attempt;
		this.again = again;
	}

	void clear() {
		this.redirectedSince = 0;
		this.asking.clear();
	}

	/**
	 * Some commands are kept.
	 * @param kept their positions
	 * @return the places among them of those that go behind an ASKING
	 */
	BitSet keep(BitSet kept) {
		BitSet places = new BitSet(0);
		this.asking.stream().forEach((command) -> places.set(kept.get(0, command).cardinality()));
		this.asking.clear();
		return places;
	}

	/**
	 * Has a command that is to be sent again go behind an ASKING.
	 * @param command its position, as {@link #eachAgain} shows it
	 */
	public void ask(int command) {
		this.asking.set(command);
	}

	/** Has all commands go without ASKING after all. */
	public void askNothing() {
		this.attempt.ask(new BitSet(0));
	}

	/**
	 * When a command of the slab was redirected first.
	 * @param now the time if none was before, of {@link System#nanoTime()}
	 * @return the time of the first call since the slab was filled
	 */
	public long redirectedSince(long now) {
		this.redirectedSince = (this.redirectedSince != 0) ? this.redirectedSince : now;
		return this.redirectedSince;
	}

	/**
	 * The slot of the first command.
	 * @return the slot, or -1 for a script that names no key
	 */
	public int first() {
		return of(this.commands, 0);
	}

	/**
	 * The slots of the commands that may have run without an answer.
	 * @return the slots, empty where all is known; a script that names no key counts for
	 * all of them
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

	/** Shows the commands that are to be sent again, in their order. */
	public void eachAgain(Redirect.Visitor visitor) {
		SlabErrors errors = this.attempt.errors();
		NotableReplies findings = this.attempt.replies().findings();
		Redirect all = (this.commands.areAtomic()) ? errors.transactionRedirect() : null;
		int finding = 0;
		for (int command = this.again.nextSetBit(0); command >= 0; command = this.again.nextSetBit(command + 1)) {
			while (finding < findings.count() && findings.position(finding) < command) {
				finding++;
			}
			boolean found = !this.commands.areAtomic() && finding < findings.count()
					&& findings.position(finding) == command;
			@Nullable Redirect redirect = (found) ? errors.redirect(finding) : all;
			visitor.visit(command, of(this.commands, command), redirect);
		}
	}

	/** The keys of a command, which {@link #eachAgain} shows. */
	public List<ByteBuffer> keys(int command) {
		return this.commands.keys(command);
	}

	/** The slot of a command's first key, or -1 for a script without. */
	static int of(Commands commands, int command) {
		List<ByteBuffer> keys = commands.keys(command);
		return (keys.isEmpty()) ? Slots.NONE
				: Slots.of(commands.resp(), keys.get(0).position(), keys.get(0).remaining());
	}

}
