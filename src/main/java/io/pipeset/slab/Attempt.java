package io.pipeset.slab;

import java.util.Queue;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.room.Room;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to run a slab's commands: whether they were written, and what Redis
 * answered. It is all that a connection needs of a slab.
 */
public final class Attempt {

	private final Commands commands;

	private final CommonCommands common;

	private final Replies replies;

	private boolean captureAll;

	/** The common commands that may be made; {@code null} for none. */
	private @Nullable Coalescing coalescing;

	private int bytes;

	private volatile boolean written;

	/** Whether it is known that the unanswered commands did not run. */
	private boolean resolved;

	private volatile boolean done;

	/**
	 * An attempt that has not begun.
	 * @param commands the slab's commands
	 * @param room the memory for replies that a report may do without
	 */
	Attempt(Commands commands, Room room) {
		this.commands = commands;
		this.common = new CommonCommands(commands);
		this.replies = new Replies(this.common, room);
	}

	/** Forgets everything, for the slab's next attempt. */
	void clear() {
		this.written = false;
		this.resolved = false;
		this.done = false;
		this.coalescing = null;
		this.bytes = 0;
		this.common.clear();
		this.replies.clear();
	}

	/** Lets records that are neighbours go as one command. */
	void coalesce(Coalescing allowed) {
		this.coalescing = allowed;
	}

	/** Says whether to keep every reply, or only those that tell an outcome. */
	void captureAll(boolean captureAll) {
		this.captureAll = captureAll;
	}

	/**
	 * Writes the whole slab as RESP.
	 * @param out a buffer on its way to the socket
	 */
	public void writeTo(ByteBuf out) {
		this.written = true;
		if (this.coalescing != null) {
			this.common.find(this.coalescing, this.captureAll);
		}
		int from = out.writerIndex();
		this.commands.writeTo(out, this.common);
		this.bytes = out.writerIndex() - from;
		this.replies.expectOthers(this.commands.scripts().count() + this.common.scripts());
		if (this.commands.areAtomic()) {
			this.replies.expectTransaction();
		}
	}

	/** Says that the socket took nothing of the slab, so that no command ran. */
	public void nothingWasSent() {
		this.written = false;
	}

	/**
	 * Says that the socket did not take the slab's last byte. The commands before it may
	 * run, but a transaction does not run without its end.
	 */
	public void endWasNotSent() {
		if (this.commands.areAtomic()) {
			this.written = false;
		}
	}

	/** Takes all commands for unanswered, as nobody knows whose the replies were. */
	public void forgetReplies() {
		this.replies.clear();
	}

	/** Says that the slab came back from its connection, answered or not. */
	public void end() {
		this.done = true;
	}

	/**
	 * Whether every command was answered.
	 * @return {@code false} until then, and for a slab that was lost
	 */
	public boolean isAnswered() {
		return this.replies.count() == this.commands.count();
	}

	/**
	 * Whether the replies leave the connection in a transaction.
	 * @return {@code true} where the connection's next commands would only be queued
	 */
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

	/** The size of the commands that were written, in bytes of RESP. */
	int bytes() {
		return (this.written) ? this.bytes : 0;
	}

	/** The number of commands that were written. */
	int sentCommands() {
		return (this.written && this.bytes > 0) ? this.common.count() : 0;
	}

	/** Takes the slab for written, as its driver does not give it back. */
	void abandon() {
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

	Commands commands() {
		return this.commands;
	}

	Replies replies() {
		return this.replies;
	}

	SlabErrors errors() {
		return new SlabErrors(this.commands, this.common, this.replies);
	}

	/** Whether the next reply is kept. */
	boolean capturesNext() {
		return this.captureAll || takesNext();
	}

	/** Whether the next reply has values that Redis no longer has. */
	boolean takesNext() {
		return this.commands.table().takesValues(this.replies.count());
	}

	/** Whether the next reply says something by being a value, kept or not. */
	boolean notesNext() {
		return this.commands.table().effect(this.replies.count()).notesValues();
	}

}
