package io.pipeset.engine.slab;

import java.util.Arrays;

import io.pipeset.record.encoding.Encoding;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;

/**
 * The replies to a slab that say more than that a command ran, each with the position of
 * its record, in their order.
 */
final class NotableReplies {

	private int count;

	private int errors;

	private int[] positions = new int[8];

	private Kind[] kinds = new Kind[8];

	private int[] starts = new int[8];

	private int[] ends = new int[8];

	private final CapturedBytes captured;

	/** The error that was parsed last, and its place: Redis often repeats itself. */
	private @Nullable Refusal refusal;

	private int refusalStart;

	private int refusalEnd;

	/**
	 * No findings yet.
	 * @param room the memory for replies that a report may do without
	 */
	NotableReplies(MemoryReservation room) {
		this.captured = new CapturedBytes(room);
	}

	void clear() {
		this.count = 0;
		this.errors = 0;
		this.refusal = null;
		this.captured.clear();
	}

	/** Adds the reply that was captured last, to some records. */
	void add(Kind kind, int first, int end) {
		int from = this.captured.start();
		int to = this.captured.end();
		for (int record = first; record < end; record++) {
			add(kind, record, from, to);
		}
	}

	private void add(Kind kind, int position, int from, int to) {
		int finding = this.count++;
		if (finding == this.positions.length) {
			this.positions = Arrays.copyOf(this.positions, finding * 2);
			this.kinds = Arrays.copyOf(this.kinds, finding * 2);
			this.starts = Arrays.copyOf(this.starts, finding * 2);
			this.ends = Arrays.copyOf(this.ends, finding * 2);
		}
		this.positions[finding] = position;
		this.kinds[finding] = kind;
		this.starts[finding] = from;
		this.ends[finding] = to;
		this.errors += (kind == Kind.ERROR) ? 1 : 0;
	}

	/** Adds a string instead of a reply that was captured in part. */
	void addBulk(byte[] value, int position) {
		this.captured.drop();
		this.captured.addBulk(value);
		add(Kind.VALUE, position, position + 1);
	}

	void addInteger(long value, int position) {
		this.captured.addInteger(value);
		add(Kind.VALUE, position, position + 1);
	}

	/** Adds OK to some records. */
	void addOk(int first, int end) {
		this.captured.addOk();
		add(Kind.VALUE, first, end);
	}

	/** Takes back the reply that was captured last, an integer. */
	long dropInteger() {
		this.captured.drop();
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
		for (int finding = 0; finding < this.count; finding++) {
			values += (this.kinds[finding] == Kind.VALUE) ? 1 : 0;
		}
		return values;
	}

	int position(int finding) {
		return this.positions[finding];
	}

	Kind kind(int finding) {
		return this.kinds[finding];
	}

	int bytes(int finding) {
		return this.ends[finding] - this.starts[finding];
	}

	/** Whether a reply is a string of bytes, and not the nil that RESP2 writes as one. */
	boolean isBulk(int finding) {
		return this.kinds[finding] == Kind.VALUE && this.ends[finding] > this.starts[finding]
				&& this.captured.bytes()[this.starts[finding]] == '$';
	}

	/** The first byte of a string. */
	int bulkStart(int finding) {
		return Resp.skipLine(this.captured.bytes(), this.starts[finding]);
	}

	/** The byte behind the last of a string. */
	int bulkEnd(int finding) {
		return this.ends[finding] - 2;
	}

	/** The error that a finding is; equal ones in a row are parsed once. */
	Refusal refusal(int finding) {
		Refusal known = this.refusal;
		byte[] bytes = this.captured.bytes();
		if (known == null || !Arrays.equals(bytes, this.refusalStart, this.refusalEnd, bytes, this.starts[finding],
				this.ends[finding])) {
			known = Refusal.of(String.valueOf(decoder(finding, Encoding.UTF8).next()));
			this.refusal = known;
			this.refusalStart = this.starts[finding];
			this.refusalEnd = this.ends[finding];
		}
		return known;
	}

	ReplyDecoder decoder(int finding, Encoding encoding) {
		return this.captured.decoder(this.starts[finding], encoding);
	}

	/** The kind of a reply. */
	enum Kind {

		/** An error; captured. */
		ERROR,

		/** A nil; not captured. */
		NIL,

		/** Anything else; captured where it is wanted. */
		VALUE

	}

}
