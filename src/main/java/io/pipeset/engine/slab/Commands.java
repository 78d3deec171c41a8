package io.pipeset.engine.slab;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The commands of a slab: their RESP in one array, and a table with a row for each
 * command.
 */
final class Commands {

	private static final int MIN_COMMANDS = 64;

	private static final int MIN_BYTES = 4096;

	private static final byte[] MULTI = "*1\r\n$5\r\nMULTI\r\n".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] ASKING = "*1\r\n$6\r\nASKING\r\n".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] EXEC = "*1\r\n$4\r\nEXEC\r\n".getBytes(StandardCharsets.US_ASCII);

	private static final int MAX_REUSED_BYTES = 2 * Slab.MAX_BYTES;

	private final MemoryReservation reservation;

	private byte[] resp;

	private int bytes;

	private final CommandTable table;

	private final CommandHead head = new CommandHead();

	private final SlabScripts scripts = new SlabScripts();

	private boolean atomic;

	/** Ends the transaction; {@code null} for none. */
	private @Nullable LaneMark mark;

	private String markValue = LaneMark.NONE;

	/** Compares the records, and so reads instead of writing; {@code null} for none. */
	private @Nullable Verification verification;

	/** Allocates arrays for the commands expected, or small ones if memory is scarce. */
	Commands(int commands, int bytes, MemoryReservation reservation) {
		this.reservation = reservation;
		// Some spare bytes, so that a key with one digit more does not double the array.
		int capacity = Math.max(bytes + bytes / 8, MIN_BYTES);
		int size = Math.max(commands, MIN_COMMANDS);
		if (!reservation.tryReserve(footprint(size, capacity))) {
			capacity = MIN_BYTES;
			size = MIN_COMMANDS;
			reservation.reserve(footprint(size, capacity));
		}
		this.resp = new byte[capacity];
		this.table = new CommandTable(size, reservation);
	}

	void clear(boolean atomic) {
		this.atomic = atomic;
		this.mark = null;
		this.verification = null;
		if (this.resp.length > MAX_REUSED_BYTES) {
			this.reservation.release(MemoryReservation.ofArray(this.resp.length) - MIN_BYTES);
			this.resp = new byte[MIN_BYTES];
		}
		this.table.clear();
		this.scripts.clear();
		this.bytes = 0;
	}

	/** Whether the commands take more memory than a slab for reuse may. */
	boolean isLarge() {
		return this.resp.length > MAX_REUSED_BYTES;
	}

	/** Gives the memory back. The commands must not be used afterwards. */
	void release() {
		this.table.clear();
		this.reservation.release(footprint(this.table.capacity(), this.resp.length));
	}

	/**
	 * Adds a record by copying its bytes. Returns {@code false} if the commands would
	 * exceed the size of a write, or if there is no memory. The first command may be
	 * larger than a write.
	 */
	boolean add(Record record) {
		long needed = this.bytes + maxBytes(record);
		if (!isOpenFor(record, needed) || !tryGrow(record, needed)
				|| !this.table.add(record, this.bytes, this.verification != null)) {
			return false;
		}
		if (this.verification == null) {
			this.scripts.add(record.script());
		}
		byte[] out = this.resp;
		int arguments = record.argumentCount();
		int at = this.head.put(record.effect().command(record.command()), arguments, out, this.bytes);
		for (int i = 0; i < arguments; i++) {
			at = Resp.putBulk(out, at, record.source(i), record.offset(i), record.length(i));
		}
		this.bytes = at;
		return true;
	}

	boolean isOpenFor(Record record) {
		return isOpenFor(record, this.bytes + maxBytes(record));
	}

	private boolean isOpenFor(Record record, long bytes) {
		int most = (this.atomic && this.mark == null) ? Slab.MAX_ATOMIC_BYTES : Slab.MAX_BYTES;
		return count() == 0 || bytes + this.scripts.bytesWith(record.script()) <= most;
	}

	void retain(BitSet kept) {
		int count = 0;
		int at = 0;
		for (int command = kept.nextSetBit(0); command >= 0; command = kept.nextSetBit(command + 1)) {
			int from = this.table.start(command);
			int length = end(command) - from;
			System.arraycopy(this.resp, from, this.resp, at, length);
			this.table.move(command, count++, at);
			at += length;
		}
		if (count == 0) {
			this.scripts.clear();
		}
		this.table.truncate(count);
		this.bytes = at;
	}

	int count() {
		return this.table.count();
	}

	int bytes() {
		return this.scripts.bytes() + this.bytes + ((this.atomic) ? MULTI.length + EXEC.length : 0)
				+ ((this.mark != null) ? this.mark.bytes() : 0);
	}

	/** Ends the transaction with the mark of its lane. */
	void setMark(LaneMark mark, String value) {
		this.mark = mark;
		this.markValue = value;
	}

	/** Reads what the records should have left, and compares it. */
	void verify(Verification verification) {
		this.verification = verification;
	}

	@Nullable Verification verification() {
		return this.verification;
	}

	boolean areMarked() {
		return this.mark != null;
	}

	String markValue() {
		return this.markValue;
	}

	boolean areAtomic() {
		return this.atomic;
	}

	SlabScripts scripts() {
		return this.scripts;
	}

	/** The array with the commands. The caller must not modify it. */
	byte[] resp() {
		return this.resp;
	}

	int start(int command) {
		return this.table.start(command);
	}

	int end(int command) {
		return (command + 1 < count()) ? this.table.start(command + 1) : this.bytes;
	}

	CommandTable table() {
		return this.table;
	}

	/** The first key as a report shows it, or {@code null} for a script without keys. */
	@Nullable Object key(int command) {
		List<ByteBuffer> keys = keys(command);
		return (keys.isEmpty()) ? null
				: this.table.encoding(command).show(this.resp, keys.get(0).position(), keys.get(0).limit());
	}

	/**
	 * The size of a command's id and first key, which a report shows with the outcome.
	 */
	long itemBytes(int command) {
		String id = this.table.id(command);
		List<ByteBuffer> keys = keys(command);
		return ((id != null) ? id.length() : 0L) + ((keys.isEmpty()) ? 0 : keys.get(0).remaining());
	}

	/** All keys of a command. Each is a view that is valid until the commands change. */
	List<ByteBuffer> keys(int command) {
		int start = this.table.start(command);
		Operation operation = this.table.sentAs(command);
		int arguments = (int) Resp.number(this.resp, start + 1) - 1;
		int at = Resp.skipLine(this.resp, start) + this.table.effect(command).command(operation).length;
		int keyCount = operation.keyCount(arguments, counted(operation, at));
		List<ByteBuffer> keys = new ArrayList<>();
		for (int i = 0; keys.size() < keyCount; i++) {
			if (operation.isKey(i, keyCount)) {
				int length = (int) Resp.number(this.resp, at + 1);
				keys.add(ByteBuffer.wrap(this.resp, Resp.skipLine(this.resp, at), length));
			}
			at = Resp.skipBulk(this.resp, at);
		}
		return keys;
	}

	/** The argument that is the number of keys; 0 if there is none. */
	private long counted(Operation operation, int arguments) {
		int at = arguments;
		for (int i = 0; i < operation.keyCounter(); i++) {
			at = Resp.skipBulk(this.resp, at);
		}
		return (operation.keyCounter() >= 0) ? Resp.number(this.resp, Resp.skipLine(this.resp, at)) : 0;
	}

	/** Whether the slab loads the script that a command runs. */
	boolean isScriptLoaded(int command) {
		int name = Resp.skipLine(this.resp, this.table.start(command));
		return this.table.sentAs(command) == Operation.EVALSHA
				&& this.scripts.loads(this.resp, Resp.skipBulk(this.resp, name));
	}

	/** Writes the first commands, all of them if any are coalesced. */
	void writeTo(ByteBuf out, CoalescedCommands coalesced, int count, boolean asking) {
		LaneMark mark = this.mark;
		if (mark == null) {
			this.scripts.writeTo(out);
			coalesced.writeScriptsTo(out);
		}
		if (asking) {
			out.writeBytes(ASKING);
		}
		if (this.atomic) {
			out.writeBytes(MULTI);
		}
		if (mark != null) {
			// Within the transaction, so that Redis cannot forget them before it.
			this.scripts.writeTo(out);
		}
		if (this.verification != null) {
			this.verification.writeTo(out, this, count);
		}
		else {
			coalesced.writeTo(out, count);
		}
		if (mark != null) {
			mark.writeTo(out, this.markValue);
		}
		if (this.atomic) {
			out.writeBytes(EXEC);
		}
	}

	/** Waits for the memory that a record takes as the next command, and takes it. */
	void reserve(Record record) {
		int capacity = (int) Math.max(this.bytes + exactBytes(record), this.resp.length);
		int size = sizeWithOneMore();
		this.reservation.reserve(footprint(size, capacity) - footprint(this.table.capacity(), this.resp.length));
		grow(size, capacity);
		this.table.reserve(record);
	}

	private int sizeWithOneMore() {
		return this.table.capacity() * ((count() < this.table.capacity()) ? 1 : 2);
	}

	private boolean tryGrow(Record record, long estimate) {
		if (count() < this.table.capacity() && estimate <= this.resp.length) {
			return true;
		}
		long needed = this.bytes + exactBytes(record);
		int size = sizeWithOneMore();
		int capacity = this.resp.length;
		if (needed > capacity) {
			capacity = (int) Math.max(needed, Math.min(2L * capacity, (long) capacity + Slab.MAX_BYTES));
		}
		if (!this.reservation
			.tryReserve(footprint(size, capacity) - footprint(this.table.capacity(), this.resp.length))) {
			return false;
		}
		grow(size, capacity);
		return true;
	}

	private void grow(int size, int capacity) {
		this.table.grow(size);
		if (capacity > this.resp.length) {
			this.resp = Arrays.copyOf(this.resp, capacity);
		}
	}

	private static long footprint(int commands, int bytes) {
		return CommandTable.bytesOf(commands) + MemoryReservation.ofArray(bytes);
	}

	private static long exactBytes(Record record) {
		long size = (long) Resp.headerBytes(record.argumentCount() + 1)
				+ record.effect().command(record.command()).length;
		for (int i = 0; i < record.argumentCount(); i++) {
			size += (long) Resp.headerBytes(record.length(i)) + record.length(i) + 2L;
		}
		return size;
	}

	private static long maxBytes(Record record) {
		long size = (long) Resp.MAX_HEADER + record.effect().command(record.command()).length;
		for (int i = 0; i < record.argumentCount(); i++) {
			size += (long) Resp.MAX_HEADER + record.length(i) + 2;
		}
		return size;
	}

	@Override
	public String toString() {
		return count() + " commands, starting with "
				+ new String(this.resp, 0, Math.min(this.bytes, 16), StandardCharsets.ISO_8859_1).trim();
	}

}
