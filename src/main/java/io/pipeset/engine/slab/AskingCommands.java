package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.BitSet;

import io.netty.buffer.ByteBuf;

/**
 * The commands that go behind an ASKING. A node to which a slot is being moved runs a
 * command for that slot only behind an ASKING, which holds for the next command alone, or
 * for a whole transaction.
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

	/** Whether an ASKING comes ahead of a command, or of the transaction of a slab. */
	boolean isAhead(int command) {
		return this.commands.get(command);
	}

	/** Writes commands that do not run as a transaction. */
	void writeTo(ByteBuf out, Commands commands) {
		for (int command = 0; command < commands.count(); command++) {
			writeAheadOf(command, out);
			int from = commands.start(command);
			out.writeBytes(commands.resp(), from, commands.end(command) - from);
		}
	}

	/** Writes the ASKING of a command, if it has one. */
	void writeAheadOf(int command, ByteBuf out) {
		if (isAhead(command)) {
			out.writeBytes(ASKING);
		}
	}

}
