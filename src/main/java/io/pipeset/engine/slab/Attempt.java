package io.pipeset.engine.slab;

import java.util.Queue;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to run a slab's commands: whether they were written, and Redis's replies. A
 * connection needs nothing else of a slab.
 */
public final class Attempt implements Exchange {

	private final Commands commands;

	private final CoalescedCommands coalesced;

	private final Replies replies;

	private final ReplyReader reader = new ReplyReader();

	private boolean captureAll;

	/** The coalesced commands that are allowed; {@code null} for none. */
	private @Nullable Coalescing coalescing;

	/** Whether only the first command is sent. */
	private boolean alone;

	/** Whether an ASKING comes first. */
	private boolean asking;

	private int bytes;

	private volatile boolean written;

	/** Whether the unanswered commands certainly did not run. */
	private boolean resolved;

	/**
	 * Why the commands that ran are unconfirmed; {@code null} if enough replicas have
	 * them.
	 */
	private @Nullable Loss unconfirmed;

	/**
	 * The value of {@link #failovers} if replicas have confirmed the commands, so that no
	 * failover loses them.
	 */
	private static final int CONFIRMED = Integer.MAX_VALUE;

	/** The failovers seen before the connection was lent, or {@link #CONFIRMED}. */
	private int failovers = CONFIRMED;

	/** Whether a server that had become a replica refused commands. */
	private boolean demoted;

	private volatile boolean done;

	/**
	 * Creates an attempt that has not begun.
	 * @param reservation the memory for replies that a report can do without
	 */
	Attempt(Commands commands, MemoryReservation reservation) {
		this.commands = commands;
		this.coalesced = new CoalescedCommands(commands);
		this.replies = new Replies(this.coalesced, reservation);
	}

	void clear() {
		this.written = false;
		this.resolved = false;
		this.unconfirmed = null;
		this.demoted = false;
		this.failovers = CONFIRMED;
		this.done = false;
		this.coalescing = null;
		this.alone = false;
		this.asking = false;
		this.bytes = 0;
		this.coalesced.clear();
		this.replies.clear();
		this.reader.clear();
	}

	void coalesce(Coalescing allowed) {
		this.coalescing = allowed;
	}

	/**
	 * Sends only the first command, or the whole transaction.
	 * @param asking whether to send an ASKING before it. A node runs a command for a slot
	 * that it is importing only after an ASKING, which holds for one command or
	 * transaction
	 */
	public void sendAlone(boolean asking) {
		this.alone = true;
		this.asking = asking;
	}

	/** Whether only the first command, or the whole transaction, is sent. */
	public boolean isAlone() {
		return this.alone;
	}

	/** The number of commands that the attempt sends. */
	public int count() {
		return (this.alone && !this.commands.areAtomic()) ? 1 : this.commands.count();
	}

	/** Whether the attempt leaves out commands. */
	public boolean isPartial() {
		return count() < this.commands.count();
	}

	/** Sets whether to keep every reply, or only those on which an outcome depends. */
	void setCaptureAll(boolean captureAll) {
		this.captureAll = captureAll;
	}

	@Override
	public void writeTo(ByteBuf out) {
		this.written = true;
		if (this.coalescing != null && !this.alone) {
			this.coalesced.find(this.coalescing, this.captureAll);
		}
		int from = out.writerIndex();
		this.commands.writeTo(out, this.coalesced, count(), this.asking);
		this.bytes = out.writerIndex() - from;
		this.replies.expect(this.commands.scripts().count() + this.coalesced.scripts(), this.asking,
				this.commands.areAtomic(), this.commands.areMarked());
	}

	@Override
	public boolean read(ByteBuf in) {
		return this.reader.read(in, this);
	}

	@Override
	public void nothingWasSent() {
		this.written = false;
	}

	/** A transaction does not run without its EXEC, unless Redis has refused MULTI. */
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
		return this.replies.count() == count();
	}

	@Override
	public boolean leavesTransactionOpen() {
		return errors().isTransactionOpen();
	}

	boolean isDone() {
		return this.done;
	}

	boolean isWritten() {
		return this.written;
	}

	boolean isUnknown() {
		return this.written && !this.resolved && !isAnswered() && this.commands.verification() == null;
	}

	/** Whether a command without an answer may have run. */
	boolean isUnknown(int command) {
		return isUnknown() && command < count();
	}

	/**
	 * The size of the write, 0 if there was none.
	 * @return bytes of RESP
	 */
	public int bytes() {
		return (this.written) ? this.bytes : 0;
	}

	/** The number of commands written. A coalesced command counts once. */
	int sentCommands() {
		return (this.written && this.bytes > 0) ? Math.min(this.coalesced.count(), count()) : 0;
	}

	/**
	 * Marks the commands as written, because the driver keeps them and may still write
	 * them.
	 */
	public void abandon() {
		this.written = true;
	}

	/**
	 * Answers the first unanswered commands with values that were read from another list.
	 * The other commands did not run.
	 */
	void resolve(Queue<byte[]> values) {
		if (this.written) {
			while (!isAnswered() && !values.isEmpty()) {
				this.replies.addFound(values.remove());
			}
			this.resolved = true;
		}
	}

	/**
	 * Settles commands whose replies were lost by the mark of their lane.
	 * @param ran whether Redis has the mark, and so ran all commands
	 * @return how many replies to commands that ran are lost
	 */
	public int resolve(boolean ran) {
		this.resolved = true;
		if (ran) {
			return this.replies.addLost();
		}
		this.replies.clear();
		this.written = false;
		return 0;
	}

	/**
	 * Marks the commands that ran as unconfirmed, because too few replicas have them.
	 * @param unconfirmed the loss that the report gives for these commands
	 */
	public void unconfirmed(Loss unconfirmed) {
		this.unconfirmed = unconfirmed;
	}

	@Nullable Loss unconfirmed() {
		return this.unconfirmed;
	}

	/**
	 * Marks the attempt as demoted if Redis refused commands as read-only. These refusals
	 * then count as transient, because another server has become master.
	 * @return whether Redis refused commands as read-only
	 */
	public boolean markIfDemoted() {
		this.demoted = errors().hasReadOnlyRefusal();
		return this.demoted;
	}

	/** Whether refusals as read-only count as transient. */
	public boolean isDemoted() {
		return this.demoted;
	}

	/**
	 * Sets the state of the master that gets the attempt.
	 * @param failovers how many failovers had been seen when the connection was lent
	 */
	public void master(int failovers) {
		this.failovers = failovers;
	}

	int failovers() {
		return this.failovers;
	}

	Commands commands() {
		return this.commands;
	}

	Replies replies() {
		return this.replies;
	}

	SlabErrors errors() {
		return new SlabErrors(this.commands, this.coalesced, this.replies, this.demoted);
	}

	/**
	 * The most bytes of the next reply that are needed. A larger one is not that of the
	 * record, if the record is only compared.
	 */
	int maxNextBytes() {
		int command = this.replies.count();
		return (this.commands.verification() == null) ? Integer.MAX_VALUE : (int) Math.min(Integer.MAX_VALUE,
				4L * (this.commands.end(command) - this.commands.start(command)) + 1024);
	}

	boolean capturesNext() {
		return this.captureAll || needsNextReply();
	}

	/**
	 * Whether the outcome depends on the content of the next reply, even if the report
	 * shows no replies.
	 */
	boolean needsNextReply() {
		return this.commands.verification() != null || this.commands.table().needsReply(this.replies.count());
	}

	/**
	 * Whether the next reply says no more than that its command ran if it is positive.
	 */
	boolean dropsNextIfPositive() {
		return !this.captureAll && this.commands.table().effect(this.replies.count()).tellsByNumber();
	}

	/**
	 * Whether the outcome depends on the next reply having a value, whatever the value
	 * is.
	 */
	boolean notesNextValue() {
		return this.commands.table().effect(this.replies.count()).notesValues();
	}

}
