package io.pipeset.pipeline;

import java.util.Arrays;

import io.netty.buffer.ByteBuf;
import io.pipeset.record.Encoding;

/**
 * What Redis answered to a slab, by position: nothing for the replies that say no more
 * than that the command ran, which are nearly all, and a finding for each of the others.
 */
final class Replies {

	private static final int KEPT_BYTES = 1 << 20;

	private int count;

	/** Replies that come first and are not to the slab's own commands. */
	private int others;

	private int findings;

	private int errors;

	private int[] positions = new int[8];

	private Kind[] kinds = new Kind[8];

	private int[] ends = new int[8];

	private byte[] captured = new byte[256];

	private int capturedBytes;

	void clear() {
		this.count = 0;
		this.others = 0;
		this.findings = 0;
		this.errors = 0;
		this.capturedBytes = 0;
		if (this.captured.length > KEPT_BYTES) {
			this.captured = new byte[256];
		}
	}

	/** Says how many replies come before those to the slab's own commands. */
	void expectOthers(int others) {
		this.others = others;
	}

	/** Whether the next reply is not to one of the slab's own commands. */
	boolean isOtherNext() {
		return this.others > 0;
	}

	/** A reply that is not to one of the slab's own commands. */
	void other() {
		this.others--;
	}

	/** A reply that says no more than that the command ran. */
	void plain() {
		this.count++;
	}

	/** A reply that says more; its bytes, if wanted, have been captured before. */
	void finding(Kind kind) {
		int finding = this.findings++;
		if (finding == this.positions.length) {
			this.positions = Arrays.copyOf(this.positions, finding * 2);
			this.kinds = Arrays.copyOf(this.kinds, finding * 2);
			this.ends = Arrays.copyOf(this.ends, finding * 2);
		}
		this.positions[finding] = this.count;
		this.kinds[finding] = kind;
		this.ends[finding] = this.capturedBytes;
		if (kind == Kind.ERROR) {
			this.errors++;
		}
		this.count++;
	}

	/** A value that was found elsewhere, in place of a reply that was lost. */
	void found(byte[] value) {
		// The connection may have ended in the middle of a reply.
		this.capturedBytes = start(this.findings);
		reserve(value.length + Resp.MAX_HEADER + 2);
		this.capturedBytes = Resp.putBulk(this.captured, this.capturedBytes, value, 0, value.length);
		finding(Kind.VALUE);
	}

	void capture(ByteBuf in, int length) {
		int needed = reserve(length);
		in.getBytes(in.readerIndex(), this.captured, this.capturedBytes, length);
		this.capturedBytes = needed;
	}

	/** Makes room for more bytes; what is captured with them. */
	private int reserve(int length) {
		int needed = this.capturedBytes + length;
		if (needed > this.captured.length) {
			this.captured = Arrays.copyOf(this.captured, Math.max(needed, this.captured.length * 2));
		}
		return needed;
	}

	int count() {
		return this.count;
	}

	int findings() {
		return this.findings;
	}

	int errors() {
		return this.errors;
	}

	int values() {
		int values = 0;
		for (int finding = 0; finding < this.findings; finding++) {
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
		return this.ends[finding] - start(finding);
	}

	ReplyDecoder decoder(int finding, Encoding encoding) {
		return new ReplyDecoder(this.captured, start(finding), encoding);
	}

	private int start(int finding) {
		return (finding == 0) ? 0 : this.ends[finding - 1];
	}

	/** What kind of reply it was. */
	enum Kind {

		/** An error; captured. */
		ERROR,

		/** A nil; not captured. */
		NIL,

		/** Anything else; captured where it is wanted. */
		VALUE

	}

}
