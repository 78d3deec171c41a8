package io.pipeset.engine.slab;

import java.util.Arrays;

import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The replies to a slab that say more than that a command ran, in order. Each has the
 * position of its record in the slab.
 */
final class NotableReplies {

	private int count;

	private int errors;

	private int[] positions = new int[8];

	private Kind[] kinds = new Kind[8];

	private int[] starts = new int[8];

	private int[] ends = new int[8];

	private final CapturedBytes captured;

	/** The error parsed last, and its bytes. Redis often repeats an error. */
	private @Nullable Refusal refusal;

	private int refusalStart;

	private int refusalEnd;

	/**
	 * Creates an empty list.
	 * @param reservation the memory for replies that a report can do without
	 */
	NotableReplies(MemoryReservation reservation) {
		this.captured = new CapturedBytes(reservation);
	}

	void clear() {
		this.count = 0;
		this.errors = 0;
		this.refusal = null;
		this.captured.clear();
	}

	/** Adds the reply captured last, for some records. */
	void add(Kind kind, int first, int end) {
		int from = this.captured.start();
		int to = this.captured.end();
		for (int record = first; record < end; record++) {
			add(kind, record, from, to);
		}
	}

	private void add(Kind kind, int position, int from, int to) {
		int notable = this.count++;
		if (notable == this.positions.length) {
			this.positions = Arrays.copyOf(this.positions, notable * 2);
			this.kinds = Arrays.copyOf(this.kinds, notable * 2);
			this.starts = Arrays.copyOf(this.starts, notable * 2);
			this.ends = Arrays.copyOf(this.ends, notable * 2);
		}
		this.positions[notable] = position;
		this.kinds[notable] = kind;
		this.starts[notable] = from;
		this.ends[notable] = to;
		this.errors += (kind == Kind.ERROR) ? 1 : 0;
	}

	/** Adds a string in place of a reply that was captured in part. */
	void addBulk(byte[] value, int position) {
		this.captured.discard();
		this.captured.addBulk(value);
		add(Kind.VALUE, position, position + 1);
	}

	void addInteger(long value, int position) {
		this.captured.addInteger(value);
		add(Kind.VALUE, position, position + 1);
	}

	void addOk(int first, int end) {
		this.captured.addOk();
		add(Kind.VALUE, first, end);
	}

	/** Drops the reply captured last, an integer, and returns its value. */
	long discardInteger() {
		this.captured.discard();
		return Long.parseLong(String.valueOf(this.captured.decoder(this.captured.start(), Encoding.UTF8).next()));
	}

	CapturedBytes captured() {
		return this.captured;
	}

	int count() {
		return this.count;
	}

	int errors() {
		return this.errors;
	}

	int values() {
		int values = 0;
		for (int notable = 0; notable < this.count; notable++) {
			values += (this.kinds[notable] == Kind.VALUE) ? 1 : 0;
		}
		return values;
	}

	int position(int notable) {
		return this.positions[notable];
	}

	Kind kind(int notable) {
		return this.kinds[notable];
	}

	int start(int notable) {
		return this.starts[notable];
	}

	int bytes(int notable) {
		return this.ends[notable] - this.starts[notable];
	}

	/** Whether a reply is a bulk string, and not RESP2's nil, which looks like one. */
	boolean isBulk(int notable) {
		return this.kinds[notable] == Kind.VALUE && this.ends[notable] > this.starts[notable]
				&& this.captured.bytes()[this.starts[notable]] == '$';
	}

	int bulkStart(int notable) {
		return Resp.skipLine(this.captured.bytes(), this.starts[notable]);
	}

	int bulkEnd(int notable) {
		return this.ends[notable] - 2;
	}

	/** The error that a reply is. Equal errors in a row are parsed once. */
	Refusal refusal(int notable) {
		Refusal known = this.refusal;
		byte[] bytes = this.captured.bytes();
		if (known == null || !Arrays.equals(bytes, this.refusalStart, this.refusalEnd, bytes, this.starts[notable],
				this.ends[notable])) {
			known = Refusal.of(String.valueOf(decoder(notable, Encoding.UTF8).next()));
			this.refusal = known;
			this.refusalStart = this.starts[notable];
			this.refusalEnd = this.ends[notable];
		}
		return known;
	}

	ReplyDecoder decoder(int notable, Encoding encoding) {
		return this.captured.decoder(this.starts[notable], encoding);
	}

	/** The kind of a reply. */
	enum Kind {

		/** An error, which is always captured. */
		ERROR,

		NIL,

		VALUE

	}

}
