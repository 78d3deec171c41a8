package io.pipeset.engine.slab;

import java.util.BitSet;
import java.util.Queue;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to run a slab's commands: whether they were written, and what Redis
 * answered. It is all that a connection needs of a slab.
 */
public final class Attempt implements Exchange {

	private final Commands commands;

	private final CoalescedCommands common;

	private final Replies replies;

	private final ReplyReader reader = new ReplyReader();

	private boolean captureAll;

	/** The common commands that may be made; {@code null} for none. */
	private @Nullable Coalescing coalescing;

	private final AskingCommands asking = new AskingCommands();

	private int bytes;

	private volatile boolean written;

	/** Whether it is known that the unanswered commands did not run. */
	private boolean resolved;

	/** Why too few replicas have the commands that ran; {@code null} if enough have. */
	private @Nullable Loss unconfirmed;

	/** Stands for any master: replicas have the records, so no failover loses them. */
	private static final int CONFIRMED = Integer.MAX_VALUE;

	/** How many failovers had been seen when the connection was lent, or CONFIRMED. */
	private int switches = CONFIRMED;

	/** Whether a server that had become a replica refused commands. */
	private boolean demoted;

	private volatile boolean done;

	/**
	 * An attempt that has not begun.
	 * @param room the memory for replies that a report may do without
	 */
	Attempt(Commands commands, MemoryReservation room) {
		this.commands = commands;
		this.common = new CoalescedCommands(commands);
		this.replies = new Replies(this.common, room);
	}

	/** Forgets everything, for the slab's next attempt. */
	void clear() {
		this.written = false;
		this.resolved = false;
		this.unconfirmed = null;
		this.demoted = false;
		this.switches = CONFIRMED;
		this.done = false;
		this.coalescing = null;
		this.asking.clear();
		this.bytes = 0;
		this.common.clear();
		this.replies.clear();
		this.reader.clear();
	}

	/** Lets records that are neighbours go as one command. */
	void coalesce(Coalescing allowed) {
		this.coalescing = allowed;
	}

	/** Puts ASKING ahead of some commands, which all go by themselves then. */
	void ask(BitSet commands) {
		this.asking.set(commands);
	}

	/** Says whether to keep every reply, or only those that tell an outcome. */
	void captureAll(boolean captureAll) {
		this.captureAll = captureAll;
	}

	@Override
	public void writeTo(ByteBuf out) {
		this.written = true;
		if (this.coalescing != null && this.asking.isEmpty()) {
			this.common.find(this.coalescing, this.captureAll);
		}
		int from = out.writerIndex();
		this.commands.writeTo(out, this.common, this.asking);
		this.bytes = out.writerIndex() - from;
		this.replies.expect(this.commands.scripts().count() + this.common.scripts(),
				(this.asking.isEmpty()) ? null : this.asking, this.commands.areAtomic());
	}

	@Override
	public boolean read(ByteBuf in) {
		return this.reader.read(in, this);
	}

	@Override
	public void nothingWasSent() {
		this.written = false;
	}

	/** A transaction does not run without its end, unless Redis has refused it. */
	@Override
	public void endWasNotSent() {
		if (this.commands.areAtomic() && this.replies.multiRefused() == null) {
			this.written = false;
		}
	}

	@Override
	public void forgetReplies() {
		this.replies.clear();
	}

	@Override
	public void end() {
		this.done = true;
	}

	@Override
	public boolean isAnswered() {
		return this.replies.count() == this.commands.count();
	}

	@Override
	public boolean leavesTransactionOpen() {
		return errors().isTransactionOpen();
	}

	boolean isDone() {
		return this.done;
	}

	/** Whether some commands may have reached Redis. */
	boolean isWritten() {
		return this.written;
	}

	/** Whether some commands may have run without an answer. */
	boolean isUnknown() {
		return this.written && !this.resolved && !isAnswered();
	}

	/**
	 * The size of the commands that were written.
	 * @return bytes of RESP
	 */
	public int bytes() {
		return (this.written) ? this.bytes : 0;
	}

	/** The number of commands that were written. */
	int sentCommands() {
		return (this.written && this.bytes > 0) ? this.common.count() : 0;
	}

	/** Takes the slab for written: the driver keeps it, and may still write it. */
	public void abandon() {
		this.written = true;
	}

	/**
	 * Answers the first unanswered commands with values that were found elsewhere; the
	 * others did not run.
	 */
	void resolve(Queue<byte[]> values) {
		if (this.written) {
			while (!isAnswered() && !values.isEmpty()) {
				this.replies.found(values.remove());
			}
			this.resolved = true;
		}
	}

	/**
	 * Says that too few replicas have the commands that ran.
	 * @param unconfirmed what the caller reads of these commands
	 */
	public void unconfirmed(Loss unconfirmed) {
		this.unconfirmed = unconfirmed;
	}

	@Nullable Loss unconfirmed() {
		return this.unconfirmed;
	}

	/**
	 * Takes a refusal as read-only for one that passes, as another server has become
	 * master.
	 */
	public boolean markIfDemoted() {
		this.demoted = errors().areOfReplica();
		return this.demoted;
	}

	/** Whether a refusal as read-only was taken for one that passes. */
	public boolean isDemoted() {
		return this.demoted;
	}

	/**
	 * Says which master the attempt goes to.
	 * @param switches how many failovers had been seen when the connection was lent
	 */
	public void master(int switches) {
		this.switches = switches;
	}

	int switches() {
		return this.switches;
	}

	Commands commands() {
		return this.commands;
	}

	Replies replies() {
		return this.replies;
	}

	SlabErrors errors() {
		return new SlabErrors(this.commands, this.common, this.replies, this.demoted);
	}

	/** Whether the next reply is kept. */
	boolean capturesNext() {
		return this.captureAll || takesNext();
	}

	/** Whether the next reply has values that matter, whoever wants to see it. */
	boolean takesNext() {
		return this.commands.table().needsReply(this.replies.count());
	}

	/** Whether the next reply says something by being a value, kept or not. */
	boolean notesNext() {
		return this.commands.table().effect(this.replies.count()).notesValues();
	}

}
