package io.pipeset.engine.slab.lookup;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.DecoderException;
import io.pipeset.engine.slab.Exchange;

/**
 * Read-only commands in one write. A subclass receives the values of the replies in
 * order, on the connection's thread. It overrides the methods for the reply types of its
 * commands. A reply of any other type closes the connection.
 */
public abstract class Lookup implements Exchange {

	private final ValueReader reader = new ValueReader();

	private volatile boolean answered;

	abstract int replies();

	/** Receives a simple string, whose bytes are overwritten afterwards. */
	void text(byte[] line, int from, int to) {
		throw unexpected("a simple string");
	}

	void number(long number) {
		throw unexpected("a number");
	}

	void nil() {
		throw unexpected("a nil");
	}

	void error(String message) {
		throw unexpected("an error");
	}

	/** Receives the start of an array. Its elements are the next values. */
	void array(long elements) {
		throw unexpected("an array");
	}

	/**
	 * Receives the next bytes of a bulk string, at least one. It must move the reader
	 * index by all of them.
	 */
	void bulk(ByteBuf in, int length) {
		throw unexpected("a string");
	}

	/** Receives the end of a bulk string. */
	void endBulk() {
		throw unexpected("a string");
	}

	static DecoderException unexpected(String what) {
		return new DecoderException("Redis answered a command with an unexpected type of reply: " + what);
	}

	@Override
	public boolean read(ByteBuf in) {
		boolean whole = this.reader.read(in, this, replies());
		this.answered = whole;
		return whole;
	}

	@Override
	public void nothingWasSent() {
	}

	@Override
	public void endWasNotSent() {
	}

	@Override
	public void forgetReplies() {
		this.answered = false;
	}

	@Override
	public void end() {
	}

	@Override
	public boolean isAnswered() {
		return this.answered;
	}

	@Override
	public boolean leavesTransactionOpen() {
		return false;
	}

}
