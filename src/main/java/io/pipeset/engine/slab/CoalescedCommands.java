package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.CoalescedCommand;
import io.pipeset.record.Effect;
import io.pipeset.record.Operation;

/**
 * The commands that an attempt writes. A slab has a command for each record; neighbours
 * among them are found here that Redis can run as one, and written as one. The commands
 * of the slab stay as they are, so that each can be sent again by itself.
 */
final class CoalescedCommands {

	/**
	 * The most records in a common command, so that no other client waits long for it.
	 */
	static final int MAX_RECORDS = 100;

	/** The most bytes of records in a common command. */
	static final int MAX_BYTES = 64 << 10;

	private static final byte[] MSET = "$4\r\nMSET\r\n".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] MSETEX = "$6\r\nMSETEX\r\n".getBytes(StandardCharsets.US_ASCII);

	private final Commands commands;

	/** For writing a number. */
	private final byte[] number = new byte[2 * Resp.MAX_HEADER];

	/** The first record behind each command that is written. */
	private int[] ends = new int[0];

	private int count;

	/** Whether some records have a command in common at all. */
	private boolean found;

	private boolean moves;

	CoalescedCommands(Commands commands) {
		this.commands = commands;
	}

	/** Forgets what was found: each record has its own command. */
	void clear() {
		this.found = false;
		this.moves = false;
	}

	/**
	 * Finds the records that have a command in common.
	 * @param tellsReplies whether the reply to each record is wanted
	 */
	void find(Coalescing allowed, boolean tellsReplies) {
		int records = this.commands.count();
		if (this.ends.length < records) {
			this.ends = new int[records];
		}
		this.count = 0;
		for (int record = 0; record < records; record = this.ends[this.count - 1]) {
			this.ends[this.count++] = end(record, allowed, tellsReplies);
		}
		this.found = this.count < records;
	}

	/** The first record behind those that go with this one. */
	private int end(int first, Coalescing allowed, boolean tellsReplies) {
		int end = first + 1;
		int last = Math.min(this.commands.count(), first + MAX_RECORDS);
		if (end == last || !isAllowed(common(first), allowed, tellsReplies) || isSentByScript(first)
				|| !goesWith(first, end) || !canShare(first)) {
			return end;
		}
		do {
			end++;
		}
		while (end < last && goesWith(first, end));
		if (isMove(first) && end - first < MoveScript.MIN_RECORDS) {
			return first + 1;
		}
		this.moves |= isMove(first);
		return end;
	}

	private static boolean isAllowed(CoalescedCommand common, Coalescing allowed, boolean tellsReplies) {
		return common != CoalescedCommand.NONE && (allowed.severalKeys() || !common.hasSeveralKeys())
				&& (allowed.sets() || common != CoalescedCommand.MSET)
				&& (allowed.expiringSets() || common != CoalescedCommand.MSETEX)
				&& (allowed.countedPops() || common != CoalescedCommand.COUNT)
				&& (!tellsReplies || common.tellsReplies());
	}

	/** Asks first what most neighbours do not have in common, their key. */
	private boolean goesWith(int first, int next) {
		return this.commands.table().isSameCommand(first, next) && haveCommonKey(first, next) && canShare(next)
				&& common(first) == common(next)
				&& (common(first) != CoalescedCommand.MSETEX || haveCommonExpiry(first, next))
				&& this.commands.end(next) - this.commands.start(first) <= MAX_BYTES;
	}

	/** Whether two SETs end with the same words behind their values. */
	private boolean haveCommonExpiry(int first, int next) {
		byte[] resp = this.commands.resp();
		return Arrays.equals(resp, expiry(first), this.commands.end(first), resp, expiry(next),
				this.commands.end(next));
	}

	/** Where the option of a SET begins, behind its value. */
	private int expiry(int record) {
		byte[] resp = this.commands.resp();
		return Resp.skipBulk(resp, Resp.skipBulk(resp, key(record)));
	}

	/** Whether the option of a SET is followed by a time: EX, PX, EXAT or PXAT. */
	private boolean isExpiry(int record) {
		long length = Resp.number(this.commands.resp(), expiry(record) + 1);
		return this.commands.table().effect(record) == Effect.REPEATABLE && (length == 2 || length == 4);
	}

	private boolean haveCommonKey(int first, int next) {
		return common(first).hasSeveralKeys() || isSameKey(first, key(first), next, key(next));
	}

	/** Whether a record's options make it a script, whose words are others. */
	private boolean isSentByScript(int record) {
		return this.commands.table().sentAs(record) != operation(record);
	}

	/** Whether a record is a plain one, without options. */
	private boolean canShare(int record) {
		return switch (common(record)) {
			case NONE -> false;
			case MSET -> arguments(record) == 2;
			case MSETEX -> arguments(record) == 4 && isExpiry(record);
			case COUNT -> arguments(record) == 1 || isMove(record);
			case KEYS -> arguments(record) == 1;
			case ELEMENTS, MEMBERS -> true;
			case SCORED_MEMBERS -> hasPlainScores(record);
		};
	}

	private boolean isSameKey(int first, int key, int next, int other) {
		byte[] resp = this.commands.resp();
		// A pop has no other arguments, and a move has to have the same.
		int end = (common(first) == CoalescedCommand.COUNT) ? this.commands.end(first) : Resp.skipBulk(resp, key);
		return end - key <= this.commands.end(next) - other
				&& Arrays.equals(resp, key, end, resp, other, other + end - key);
	}

	/**
	 * Whether all scores are written so that Redis takes them for numbers. It refuses all
	 * members for one score that is none.
	 */
	private boolean hasPlainScores(int record) {
		byte[] resp = this.commands.resp();
		int at = Resp.skipBulk(resp, key(record));
		while (at < this.commands.end(record)) {
			if (!isPlainNumber(resp, Resp.skipLine(resp, at), (int) Resp.number(resp, at + 1))) {
				return false;
			}
			at = Resp.skipBulk(resp, Resp.skipBulk(resp, at));
		}
		return true;
	}

	/** Digits, perhaps with a sign ahead and a point between them. */
	private static boolean isPlainNumber(byte[] resp, int from, int length) {
		int first = (length > 0 && resp[from] == '-') ? 1 : 0;
		boolean point = false;
		for (int i = first; i < length; i++) {
			byte digit = resp[from + i];
			boolean between = i > first && i < length - 1;
			if (digit == '.' && between && !point) {
				point = true;
			}
			else if (digit < '0' || digit > '9') {
				return false;
			}
		}
		return length > first && length <= 32;
	}

	/** How many commands are written. */
	int count() {
		return (this.found) ? this.count : this.commands.count();
	}

	/** The first record behind those of a command; that of -1 is the first of all. */
	int end(int command) {
		return (this.found && command >= 0) ? this.ends[command] : command + 1;
	}

	/** How many records the commands have. */
	int records() {
		return this.commands.count();
	}

	/** Whether the reply to a command is a list of the replies to its records. */
	boolean isDealt(int command) {
		return this.found && end(command) - end(command - 1) > 1 && common(end(command - 1)) == CoalescedCommand.COUNT;
	}

	/** Whether a record's reply is the length of its list. */
	boolean tellsLengths(int record) {
		return common(record) == CoalescedCommand.ELEMENTS;
	}

	/** Whether a record has its command in common with others. */
	boolean isShared(int record) {
		if (!this.found) {
			return false;
		}
		int at = Arrays.binarySearch(this.ends, 0, this.count, record);
		int command = (at >= 0) ? at + 1 : -at - 1;
		return end(command) - end(command - 1) > 1;
	}

	/** The common command that a record can have with others. */
	CoalescedCommand common(int record) {
		CoalescedCommand common = operation(record).common();
		return (common == CoalescedCommand.MSET && arguments(record) > 2) ? CoalescedCommand.MSETEX : common;
	}

	/** Whether the reply to a record's common command is another than its own. */
	boolean tellsOtherwise(int record) {
		return common(record) == CoalescedCommand.MSETEX;
	}

	/** Whether a record goes by a script if others have its command in common. */
	boolean isByScript(int record) {
		return isMove(record);
	}

	/** How many elements a record adds to its list. */
	int elements(int record) {
		return arguments(record) - 1;
	}

	/** How many scripts are loaded ahead of the commands. */
	int scripts() {
		return (this.moves) ? 1 : 0;
	}

	void writeScriptsTo(ByteBuf out) {
		if (this.moves) {
			out.writeBytes(MoveScript.SCRIPT.loading());
		}
	}

	/** Writes all commands, those of records that have nothing in common in one go. */
	void writeTo(ByteBuf out) {
		int written = 0;
		int first = 0;
		for (int command = 0; this.found && command < this.count; command++) {
			int end = this.ends[command];
			if (end - first > 1) {
				writeAlone(out, written, first);
				writeShared(out, first, end);
				written = end;
			}
			first = end;
		}
		writeAlone(out, written, this.commands.count());
	}

	private void writeAlone(ByteBuf out, int first, int end) {
		if (end > first) {
			int from = this.commands.start(first);
			out.writeBytes(this.commands.resp(), from, this.commands.end(end - 1) - from);
		}
	}

	/** Writes the command of some neighbours. */
	private void writeShared(ByteBuf out, int first, int end) {
		int records = end - first;
		switch (common(first)) {
			case MSET -> {
				writeHeader(out, '*', 1 + 2 * records);
				out.writeBytes(MSET);
				writeArguments(out, first, end, true);
			}
			case MSETEX -> writeExpiring(out, first, end);
			case KEYS -> {
				writeHeader(out, '*', 1 + records);
				out.writeBytes(operation(first).resp());
				writeArguments(out, first, end, true);
			}
			case COUNT -> writePop(out, first, records);
			default -> {
				writeHeader(out, '*', 2 + countArguments(first, end) - records);
				out.writeBytes(operation(first).resp());
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
			int key = key(record);
			out.writeBytes(resp, key, expiry(record) - key);
		}
		int expiry = expiry(first);
		out.writeBytes(resp, expiry, this.commands.end(first) - expiry);
	}

	private void writePop(ByteBuf out, int first, int records) {
		if (isMove(first)) {
			writeHeader(out, '*', MoveScript.WORDS + arguments(first));
			out.writeBytes(MoveScript.HEAD);
		}
		else {
			writeHeader(out, '*', 3);
			out.writeBytes(operation(first).resp());
		}
		writeArguments(out, first, first + 1, true);
		out.writeBytes(this.number, 0, Resp.putNumberBulk(this.number, 0, records));
	}

	/** Writes the arguments of some records, with or without the first one, a key. */
	private void writeArguments(ByteBuf out, int first, int end, boolean keys) {
		byte[] resp = this.commands.resp();
		for (int record = first; record < end; record++) {
			int from = (keys) ? key(record) : Resp.skipBulk(resp, key(record));
			out.writeBytes(resp, from, this.commands.end(record) - from);
		}
	}

	private int countArguments(int first, int end) {
		int arguments = 0;
		for (int record = first; record < end; record++) {
			arguments += arguments(record);
		}
		return arguments;
	}

	private void writeHeader(ByteBuf out, char marker, int value) {
		out.writeBytes(this.number, 0, Resp.putHeader(this.number, 0, marker, value));
	}

	/** The place where the key of a record begins, the first of its arguments. */
	private int key(int record) {
		byte[] name = this.commands.table().effect(record).command(operation(record));
		return Resp.skipLine(this.commands.resp(), this.commands.start(record)) + name.length;
	}

	private int arguments(int record) {
		return (int) Resp.number(this.commands.resp(), this.commands.start(record) + 1) - 1;
	}

	private boolean isMove(int record) {
		return this.commands.table().effect(record) == Effect.MOVE;
	}

	private Operation operation(int record) {
		return this.commands.table().operation(record);
	}

}
