package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.BitSet;

import io.netty.buffer.ByteBuf;

/**
 * The commands that follow an ASKING. A node runs a command for a slot that it is
 * importing only after an ASKING. The ASKING holds for the next command, or for a whole
 * transaction.
 */
final class AskingCommands {

	private static final byte[] ASKING = "*1\r\n$6\r\nASKING\r\n".getBytes(StandardCharsets.US_ASCII);

	private final BitSet commands = new BitSet(0);

	boolean isEmpty() {
		return this.commands.isEmpty();
	}

	void clear() {
		this.commands.clear();
	}

	void set(BitSet commands) {
		clear();
		this.commands.or(commands);
	}

	/**
	 * Whether an ASKING comes before a command. Position 0 stands for the transaction of
	 * an atomic slab.
	 */
	boolean precedes(int command) {
		return this.commands.get(command);
	}

	void writeTo(ByteBuf out, Commands commands) {
		for (int command = 0; command < commands.count(); command++) {
			writeBefore(command, out);
			int from = commands.start(command);
			out.writeBytes(commands.resp(), from, commands.end(command) - from);
		}
	}

	/** Writes the ASKING before a command, if it has one. */
	void writeBefore(int command, ByteBuf out) {
		if (precedes(command)) {
			out.writeBytes(ASKING);
		}
	}

}
