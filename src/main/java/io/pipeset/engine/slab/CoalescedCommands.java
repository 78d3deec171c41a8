package io.pipeset.engine.slab;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.CoalescedCommand;
import io.pipeset.record.Effect;
import io.pipeset.record.Operation;

/**
 * The commands that an attempt writes. A slab has one command for each record. This class
 * finds neighbouring records that Redis can run as one command, and writes them as one.
 * The slab's own commands do not change, so each can be sent again by itself.
 */
final class CoalescedCommands {

	/**
	 * The most records in a coalesced command, so that other clients do not wait long for
	 * it.
	 */
	static final int MAX_RECORDS = 100;

	static final int MAX_BYTES = 64 << 10;

	private static final byte[] MSET = "$4\r\nMSET\r\n".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] MSETEX = "$6\r\nMSETEX\r\n".getBytes(StandardCharsets.US_ASCII);

	private final Commands commands;

	private final byte[] numberBuffer = new byte[2 * Resp.MAX_HEADER];

	/** The position after the last record of each command. */
	private int[] ends = new int[0];

	private int count;

	private boolean anyShared;

	private boolean anyMoveShared;

	CoalescedCommands(Commands commands) {
		this.commands = commands;
	}

	/** Gives each record its own command again. */
	void clear() {
		this.anyShared = false;
		this.anyMoveShared = false;
	}

	/**
	 * Finds the records that can share a command.
	 * @param needsReplies whether the reply to each record is needed
	 */
	void find(Coalescing allowed, boolean needsReplies) {
		int records = this.commands.count();
		if (this.ends.length < records) {
			this.ends = new int[records];
		}
		this.count = 0;
		for (int record = 0; record < records; record = this.ends[this.count - 1]) {
			this.ends[this.count++] = end(record, allowed, needsReplies);
		}
		this.anyShared = this.count < records;
	}

	/** The position after the last record that shares a command with this one. */
	private int end(int first, Coalescing allowed, boolean needsReplies) {
		int end = first + 1;
		int last = Math.min(this.commands.count(), first + MAX_RECORDS);
		if (end == last || !isAllowed(kind(first), allowed, needsReplies) || isSentByScript(first)
				|| !canJoin(first, end) || !canShare(first)) {
			return end;
		}
		do {
			end++;
		}
		while (end < last && canJoin(first, end));
		if (isMove(first) && end - first < MoveScript.MIN_RECORDS) {
			return first + 1;
		}
		this.anyMoveShared |= isMove(first);
		return end;
	}

	private static boolean isAllowed(CoalescedCommand kind, Coalescing allowed, boolean needsReplies) {
		return kind != CoalescedCommand.NONE && (allowed.severalKeys() || !kind.hasSeveralKeys())
				&& (allowed.sets() || kind != CoalescedCommand.MSET)
				&& (allowed.expiringSets() || kind != CoalescedCommand.MSETEX)
				&& (allowed.countedPops() || kind != CoalescedCommand.COUNT)
				&& (!needsReplies || kind.hasRecordReplies());
	}

	/**
	 * Whether a record can join a command. The key is compared early, because most
	 * neighbours have different keys.
	 */
	private boolean canJoin(int first, int next) {
		return this.commands.table().isSameCommand(first, next) && haveSameKey(first, next) && canShare(next)
				&& kind(first) == kind(next) && (kind(first) != CoalescedCommand.MSETEX || haveSameExpiry(first, next))
				&& this.commands.end(next) - this.commands.start(first) <= MAX_BYTES;
	}

	/** Whether two SETs have the same words after their values. */
	private boolean haveSameExpiry(int first, int next) {
		byte[] resp = this.commands.resp();
		return Arrays.equals(resp, expiry(first), this.commands.end(first), resp, expiry(next),
				this.commands.end(next));
	}

	/** The index of a SET's option, which follows its value. */
	private int expiry(int record) {
		byte[] resp = this.commands.resp();
		return Resp.skipBulk(resp, Resp.skipBulk(resp, key(record)));
	}

	/** Whether the option of a SET has a time: EX, PX, EXAT or PXAT. */
	private boolean isExpiry(int record) {
		long length = Resp.number(this.commands.resp(), expiry(record) + 1);
		return this.commands.table().effect(record) == Effect.REPEATABLE && (length == 2 || length == 4);
	}

	private boolean haveSameKey(int first, int next) {
		return kind(first).hasSeveralKeys() || isSameKey(first, key(first), next, key(next));
	}

	/** Whether a record's options make it a script, whose arguments differ. */
	private boolean isSentByScript(int record) {
		return this.commands.table().sentAs(record) != operation(record);
	}

	/** Whether a record's arguments allow it to share a command. */
	private boolean canShare(int record) {
		return switch (kind(record)) {
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
		// A pop has no other arguments, and those of a move must all be the same.
		int end = (kind(first) == CoalescedCommand.COUNT) ? this.commands.end(first) : Resp.skipBulk(resp, key);
		return end - key <= this.commands.end(next) - other
				&& Arrays.equals(resp, key, end, resp, other, other + end - key);
	}

	/**
	 * Whether all scores are plain numbers. Redis refuses all members if one score is no
	 * number.
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

	/**
	 * Whether a text is digits, with an optional minus sign before them and an optional
	 * point between them.
	 */
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

	int count() {
		return (this.anyShared) ? this.count : this.commands.count();
	}

	/**
	 * The position after the last record of a command. Command -1 gives the position of
	 * the first record.
	 */
	int end(int command) {
		return (this.anyShared && command >= 0) ? this.ends[command] : command + 1;
	}

	int records() {
		return this.commands.count();
	}

	/** Whether the reply to a command is an array with the replies to its records. */
	boolean hasArrayReply(int command) {
		return this.anyShared && end(command) - end(command - 1) > 1
				&& kind(end(command - 1)) == CoalescedCommand.COUNT;
	}

	boolean repliesWithLength(int record) {
		return kind(record) == CoalescedCommand.ELEMENTS;
	}

	boolean isShared(int record) {
		if (!this.anyShared) {
			return false;
		}
		int at = Arrays.binarySearch(this.ends, 0, this.count, record);
		int command = (at >= 0) ? at + 1 : -at - 1;
		return end(command) - end(command - 1) > 1;
	}

	/** The kind of command that a record can share with others. */
	CoalescedCommand kind(int record) {
		CoalescedCommand kind = operation(record).common();
		return (kind == CoalescedCommand.MSET && arguments(record) > 2) ? CoalescedCommand.MSETEX : kind;
	}

	/** Whether the shared command's reply differs from the record's own reply. */
	boolean hasOtherReply(int record) {
		return kind(record) == CoalescedCommand.MSETEX;
	}

	/** Whether a record is sent by a script if it shares a command. */
	boolean isMovedByScript(int record) {
		return isMove(record);
	}

	int elements(int record) {
		return arguments(record) - 1;
	}

	int scripts() {
		return (this.anyMoveShared) ? 1 : 0;
	}

	void writeScriptsTo(ByteBuf out) {
		if (this.anyMoveShared) {
			out.writeBytes(MoveScript.SCRIPT.loading());
		}
	}

	/**
	 * Writes the first commands, all of them if any are shared. Neighbouring records
	 * without shared commands are copied at once.
	 */
	void writeTo(ByteBuf out, int records) {
		int written = 0;
		int first = 0;
		for (int command = 0; this.anyShared && command < this.count; command++) {
			int end = this.ends[command];
			if (end - first > 1) {
				writeAlone(out, written, first);
				writeShared(out, first, end);
				written = end;
			}
			first = end;
		}
		writeAlone(out, written, records);
	}

	private void writeAlone(ByteBuf out, int first, int end) {
		if (end > first) {
			int from = this.commands.start(first);
			out.writeBytes(this.commands.resp(), from, this.commands.end(end - 1) - from);
		}
	}

	private void writeShared(ByteBuf out, int first, int end) {
		int records = end - first;
		switch (kind(first)) {
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

	/** Writes an MSETEX: the keys with their values, then the expiry once. */
	private void writeExpiring(ByteBuf out, int first, int end) {
		byte[] resp = this.commands.resp();
		writeHeader(out, '*', 4 + 2 * (end - first));
		out.writeBytes(MSETEX);
		out.writeBytes(this.numberBuffer, 0, Resp.putNumberBulk(this.numberBuffer, 0, end - first));
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
		out.writeBytes(this.numberBuffer, 0, Resp.putNumberBulk(this.numberBuffer, 0, records));
	}

	/**
	 * Writes the arguments of some records, with or without the key, which is the first
	 * argument.
	 */
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
		out.writeBytes(this.numberBuffer, 0, Resp.putHeader(this.numberBuffer, 0, marker, value));
	}

	/** The index of a record's key, which is its first argument. */
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
