package io.pipeset.engine.slab.lookup;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.DecoderException;
import io.pipeset.engine.slab.Exchange;

/**
 * Commands that only read, in one write. The values of the replies come to the methods of
 * a subclass, in their order and in the connection's thread. It overrides those for the
 * types that its commands answer with; a reply of any other type closes the connection.
 */
public abstract class Lookup implements Exchange {

	private final ValueReader reader = new ValueReader();

	private volatile boolean answered;

	/** How many replies the commands have. */
	abstract int replies();

	/** Takes a simple string, whose bytes are overwritten afterwards. */
	void text(byte[] line, int from, int to) {
		throw doesNotFit("a simple string");
	}

	void number(long number) {
		throw doesNotFit("a number");
	}

	void nil() {
		throw doesNotFit("a nil");
	}

	void error(String message) {
		throw doesNotFit("an error");
	}

	/** Takes the beginning of an array, whose elements are the next values. */
	void array(long elements) {
		throw doesNotFit("an array");
	}

	/** Takes the next bytes of a string, at least one; the reader index has to move. */
	void bulk(ByteBuf in, int length) {
		throw doesNotFit("a string");
	}

	/** Takes the end of a string. */
	void bulkEnds() {
		throw doesNotFit("a string");
	}

	static DecoderException doesNotFit(String what) {
		return new DecoderException("Redis answered a command with " + what + ", which it should not");
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
