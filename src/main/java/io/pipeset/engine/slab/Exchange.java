package io.pipeset.engine.slab;

import io.netty.buffer.ByteBuf;

/**
 * Commands that go to Redis in one write, and the replies to them, as a connection sees
 * both. The connection calls the methods once a write or once a received buffer, never
 * once a reply.
 */
public interface Exchange {

	/** Writes all commands as RESP. */
	void writeTo(ByteBuf out);

	/**
	 * Reads replies.
	 * @param in the bytes received, cut anywhere
	 * @return whether every command is answered; later bytes stay unread
	 */
	boolean read(ByteBuf in);

	/** Notes that the socket took no byte of the write, so that no command ran. */
	void nothingWasSent();

	/**
	 * Notes that the socket did not take the last byte of the write. The commands before
	 * it may run.
	 */
	void endWasNotSent();

	/** Drops all replies read, because they cannot be matched to commands any more. */
	void forgetReplies();

	/** Notes that the connection has finished with the commands. */
	void end();

	/**
	 * Whether every command was answered.
	 * @return {@code false} before that, and if commands were lost
	 */
	boolean isAnswered();

	/**
	 * Whether the replies leave the connection in a transaction.
	 * @return {@code true} if Redis would only queue the connection's next commands
	 */
	boolean leavesTransactionOpen();

}
