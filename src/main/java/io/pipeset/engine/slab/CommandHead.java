package io.pipeset.engine.slab;

import org.jspecify.annotations.Nullable;

/**
 * The start of a command in RESP: the number of its words, and its name. Neighbouring
 * commands mostly start alike, so the bytes are kept and reused.
 */
final class CommandHead {

	private byte[] bytes = new byte[0];

	private int length;

	private byte @Nullable [] name;

	private int arguments;

	/**
	 * Writes the start of a command.
	 * @param name the command's name as RESP; the same array for the same command
	 * @return the index after the written bytes
	 */
	int put(byte[] name, int arguments, byte[] out, int at) {
		if (name != this.name || arguments != this.arguments) {
			this.bytes = new byte[Resp.MAX_HEADER + name.length];
			int end = Resp.putHeader(this.bytes, 0, '*', arguments + 1);
			System.arraycopy(name, 0, this.bytes, end, name.length);
			this.length = end + name.length;
			this.name = name;
			this.arguments = arguments;
		}
		System.arraycopy(this.bytes, 0, out, at, this.length);
		return at + this.length;
	}

}
