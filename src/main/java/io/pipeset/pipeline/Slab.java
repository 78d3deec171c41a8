package io.pipeset.pipeline;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.Form;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.report.Account;
import org.jspecify.annotations.Nullable;

/**
 * Commands that are written at once: their RESP in one array, what each of them was, and
 * what Redis answered. Filled by the thread that reads, then owned by its lane, by the
 * connection's event loop while it is on its way, and by the lane again, which hands it
 * back to be filled anew.
 */
public final class Slab {

	/** The bytes in one write, at most, but for a single command that is larger. */
	public static final int MAX_BYTES = 1 << 20;

	private static final int MIN_COMMANDS = 64;

	private static final int MIN_BYTES = 4096;

	private static final int KEPT_BYTES = 2 * MAX_BYTES;

	private byte[] resp;

	private int bytes;

	private int commands;

	private long[] indexes;

	private long[] lines;

	private int[] starts;

	private Operation[] operations;

	private Form[] forms;

	private @Nullable String[] ids = new String[0];

	private final Replies replies = new Replies();

	private boolean captureAll;

	private volatile boolean written;

	private volatile boolean done;

	/** A slab that grows as it is filled. */
	public Slab() {
		this(MIN_COMMANDS, MIN_BYTES);
	}

	/**
	 * A slab with room from the start.
	 * @param commands how many are expected
	 * @param bytes their size
	 */
	public Slab(int commands, int bytes) {
		this.resp = new byte[Math.max(bytes, MIN_BYTES)];
		int size = Math.max(commands, MIN_COMMANDS);
		this.indexes = new long[size];
		this.lines = new long[size];
		this.starts = new int[size];
		this.operations = new Operation[size];
		this.forms = new Form[size];
	}

	/**
	 * Forgets all, to be filled anew.
	 * @param captureAll whether to keep every reply, and not only what tells an outcome
	 */
	public void clear(boolean captureAll) {
		if (this.resp.length > KEPT_BYTES) {
			this.resp = new byte[MIN_BYTES];
		}
		Arrays.fill(this.ids, null);
		this.bytes = 0;
		this.commands = 0;
		this.captureAll = captureAll;
		this.written = false;
		this.done = false;
		this.replies.clear();
	}

	/**
	 * Adds a record as one command, of which nothing is kept but copies.
	 * @param record a good record
	 * @return {@code false} where it would go beyond the size of a write, which the first
	 * never does
	 */
	public boolean add(Record record) {
		long needed = this.bytes + respBytes(record);
		if (needed > MAX_BYTES && this.commands > 0) {
			return false;
		}
		grow(needed);
		int command = this.commands++;
		this.indexes[command] = record.index();
		this.lines[command] = record.line();
		this.starts[command] = this.bytes;
		this.operations[command] = record.operation();
		this.forms[command] = record.form();
		if (record.id() != null) {
			if (this.ids.length <= command) {
				this.ids = Arrays.copyOf(this.ids, this.indexes.length);
			}
			this.ids[command] = record.id();
		}
		byte[] out = this.resp;
		int arguments = record.argumentCount();
		int at = Resp.putHeader(out, this.bytes, '*', arguments + 1);
		byte[] name = record.operation().resp();
		System.arraycopy(name, 0, out, at, name.length);
		at += name.length;
		for (int i = 0; i < arguments; i++) {
			at = Resp.putBulk(out, at, record.source(i), record.offset(i), record.length(i));
		}
		this.bytes = at;
		return true;
	}

	/**
	 * The commands in it.
	 * @return 0 or more
	 */
	public int commands() {
		return this.commands;
	}

	/**
	 * The size of the commands in it.
	 * @return bytes of RESP
	 */
	public int bytes() {
		return this.bytes;
	}

	/**
	 * Whether it came back from its connection, answered or not.
	 * @return {@code false} until then
	 */
	public boolean isDone() {
		return this.done;
	}

	/**
	 * Whether some of it may have reached Redis.
	 * @return {@code false} where it certainly did not
	 */
	public boolean isWritten() {
		return this.written;
	}

	/**
	 * Whether every command was answered.
	 * @return {@code false} until then, and for a slab that was lost
	 */
	public boolean isAnswered() {
		return this.replies.count() == this.commands;
	}

	/**
	 * Enters what became of every command.
	 * @param account the job's account
	 * @param loss why commands were not answered, where some were not
	 */
	public void settle(Account account, Loss loss) {
		new Settlement(this, account, loss).enter();
	}

	/**
	 * The one error code that Redis gave to all commands.
	 * @return the error's first word, or {@code null} where they differ or some ran
	 */
	public @Nullable String soleError() {
		return Settlement.soleError(this);
	}

	Replies replies() {
		return this.replies;
	}

	Operation operation(int command) {
		return this.operations[command];
	}

	long index(int command) {
		return this.indexes[command];
	}

	long line(int command) {
		return this.lines[command];
	}

	@Nullable String id(int command) {
		return (command < this.ids.length) ? this.ids[command] : null;
	}

	/** What there is to know of a command, as its record's options have it. */
	Form form(int command) {
		return this.forms[command];
	}

	/** The first key, or {@code null} for a script without. */
	@Nullable Object key(int command) {
		Operation operation = this.operations[command];
		int at = Resp.skipLine(this.resp, this.starts[command]) + operation.resp().length;
		for (int i = 0; i < operation.firstKey(); i++) {
			int next = Resp.skipBulk(this.resp, at);
			if (i == operation.firstKey() - 1 && Resp.number(this.resp, Resp.skipLine(this.resp, at)) == 0) {
				return null;
			}
			at = next;
		}
		int key = Resp.skipLine(this.resp, at);
		return Resp.text(this.resp, key, key + (int) Resp.number(this.resp, at + 1));
	}

	/** Whether the next reply is kept. */
	boolean capturesNext() {
		return this.captureAll || this.forms[this.replies.count()].takesValues();
	}

	/** Whether the next reply says something by being a value, kept or not. */
	boolean notesNext() {
		return this.forms[this.replies.count()].notesValues();
	}

	void writeTo(ByteBuf out) {
		this.written = true;
		out.writeBytes(this.resp, 0, this.bytes);
	}

	/** Makes ready to be sent again what came back without having been written. */
	public void retry() {
		this.done = false;
	}

	void done() {
		this.done = true;
	}

	private void grow(long needed) {
		int command = this.commands;
		if (command == this.indexes.length) {
			this.indexes = Arrays.copyOf(this.indexes, command * 2);
			this.lines = Arrays.copyOf(this.lines, command * 2);
			this.starts = Arrays.copyOf(this.starts, command * 2);
			this.operations = Arrays.copyOf(this.operations, command * 2);
			this.forms = Arrays.copyOf(this.forms, command * 2);
		}
		if (needed > this.resp.length) {
			this.resp = Arrays.copyOf(this.resp,
					(int) Math.max(needed, Math.min(2L * this.resp.length, (long) this.resp.length + MAX_BYTES)));
		}
	}

	private static long respBytes(Record record) {
		long size = (long) Resp.MAX_HEADER + record.operation().resp().length;
		for (int i = 0; i < record.argumentCount(); i++) {
			size += (long) Resp.MAX_HEADER + record.length(i) + 2;
		}
		return size;
	}

	@Override
	public String toString() {
		return "slab of " + this.commands + " commands, " + this.replies.count() + " answered, starting with "
				+ new String(this.resp, 0, Math.min(this.bytes, 16), StandardCharsets.ISO_8859_1).trim();
	}

}
