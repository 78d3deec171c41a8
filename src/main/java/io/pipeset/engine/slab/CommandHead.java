package io.pipeset.engine.slab;

import org.jspecify.annotations.Nullable;

/**
 * The beginning of a command: the count of its words, and its name. Neighbouring commands
 * mostly have the same, so that it is made once for them.
 */
final class CommandHead {

	private byte[] bytes = new byte[0];

	private int length;

	private byte @Nullable [] name;

	private int arguments;

	/**
	 * Writes the head of a command.
	 * @param name the command's name as RESP, the same array each time
	 * @return the place behind it
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
