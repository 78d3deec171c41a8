package io.pipeset.slab;

import java.nio.charset.StandardCharsets;

import io.netty.buffer.ByteBuf;

/** Writes the command that some neighbouring records of a slab have in common. */
final class CommonCommandWriter {

	private static final byte[] MSET = "$4\r\nMSET\r\n".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] MSETEX = "$6\r\nMSETEX\r\n".getBytes(StandardCharsets.US_ASCII);

	private final Commands commands;

	private final CommonCommands common;

	/** For writing a number. */
	private final byte[] number = new byte[2 * Resp.MAX_HEADER];

	CommonCommandWriter(Commands commands, CommonCommands common) {
		this.commands = commands;
		this.common = common;
	}

	/** Writes the command of some neighbours. */
	void write(ByteBuf out, int first, int end) {
		int records = end - first;
		switch (this.common.common(first)) {
			case MSET -> {
				writeHeader(out, '*', 1 + 2 * records);
				out.writeBytes(MSET);
				writeArguments(out, first, end, true);
			}
			case MSETEX -> writeExpiring(out, first, end);
			case KEYS -> {
				writeHeader(out, '*', 1 + records);
				out.writeBytes(this.common.operation(first).resp());
				writeArguments(out, first, end, true);
			}
			case COUNT -> writePop(out, first, records);
			default -> {
				writeHeader(out, '*', 2 + countArguments(first, end) - records);
				out.writeBytes(this.common.operation(first).resp());
				writeArguments(out, first, first + 1, true);
				writeArguments(out, first + 1, end, false);
			}
		}
	}

	/** The keys with their values, and once the expiry that they have in common. */
	private void writeExpiring(ByteBuf out, int first, int end) {
		byte[] resp = this.commands.resp();
		writeHeader(out, '*', 4 + 2 * (end - first));
		out.writeBytes(MSETEX);
		out.writeBytes(this.number, 0, Resp.putNumberBulk(this.number, 0, end - first));
		for (int record = first; record < end; record++) {
			int key = this.common.key(record);
			out.writeBytes(resp, key, this.common.expiry(record) - key);
		}
		int expiry = this.common.expiry(first);
		out.writeBytes(resp, expiry, this.commands.end(first) - expiry);
	}

	private void writePop(ByteBuf out, int first, int records) {
		if (this.common.isMove(first)) {
			writeHeader(out, '*', SharedMove.WORDS + this.common.arguments(first));
			out.writeBytes(SharedMove.HEAD);
		}
		else {
			writeHeader(out, '*', 3);
			out.writeBytes(this.common.operation(first).resp());
		}
		writeArguments(out, first, first + 1, true);
		out.writeBytes(this.number, 0, Resp.putNumberBulk(this.number, 0, records));
	}

	/** Writes the arguments of some records, with or without the first one, a key. */
	private void writeArguments(ByteBuf out, int first, int end, boolean keys) {
		byte[] resp = this.commands.resp();
		for (int record = first; record < end; record++) {
			int from = (keys) ? this.common.key(record) : Resp.skipBulk(resp, this.common.key(record));
			out.writeBytes(resp, from, this.commands.end(record) - from);
		}
	}

	private int countArguments(int first, int end) {
		int arguments = 0;
		for (int record = first; record < end; record++) {
			arguments += this.common.arguments(record);
		}
		return arguments;
	}

	private void writeHeader(ByteBuf out, char marker, int value) {
		out.writeBytes(this.number, 0, Resp.putHeader(this.number, 0, marker, value));
	}

}
