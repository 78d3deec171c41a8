package io.pipeset.engine.slab;

import io.netty.buffer.ByteBuf;

/**
 * Commands that go to Redis in one write, and the replies to them. It is all that a
 * connection knows of either. Its methods are called for each write and for each buffer
 * that comes, and never for each reply.
 */
public interface Exchange {

	/** Writes all commands as RESP. */
	void writeTo(ByteBuf out);

	/**
	 * Reads replies.
	 * @param in the bytes that have come, cut anywhere
	 * @return whether every command is answered; the bytes behind are left unread
	 */
	boolean read(ByteBuf in);

	/** Says that the socket took nothing of the write, so that no command ran. */
	void nothingWasSent();

	/**
	 * Says that the socket did not take the last byte of the write. The commands before
	 * it may run.
	 */
	void endWasNotSent();

	/** Takes all commands for unanswered, as nobody knows whose the replies were. */
	void forgetReplies();

	/** Says that the connection has nothing to do with the commands any more. */
	void end();

	/**
	 * Whether every command was answered.
	 * @return {@code false} until then, and for commands that were lost
	 */
	boolean isAnswered();

	/**
	 * Whether the replies leave the connection in a transaction.
	 * @return {@code true} where the connection's next commands would only be queued
	 */
	boolean leavesTransactionOpen();

}
