package io.pipeset.engine.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.DecoderException;
import io.pipeset.engine.slab.Exchange;

/**
 * Commands that only read. A subclass receives the values of the replies in order, on the
 * connection's thread. Pushes and attributes are skipped, because they answer no command.
 */
abstract class ValueExchange implements Exchange {

	/** The most characters kept of a line. An error may be longer. */
	private static final int MAX_LINE = 512;

	private final StringBuilder line = new StringBuilder();

	/** Values to come until all commands are answered. */
	private long valuesLeft;

	/** Values to come of a push or an attribute. */
	private long skipsLeft;

	private byte[] bulk = new byte[0];

	private int bulkKept;

	private long bulkBytes;

	/** Bytes to come of a bulk string and its CRLF. */
	private long bulkLeft;

	private volatile boolean answered;

	/**
	 * Expects replies.
	 * @param replies one for each command
	 */
	ValueExchange(int replies) {
		this.valuesLeft = replies;
	}

	/**
	 * Receives a line, which is overwritten afterwards.
	 * @param marker the type of the reply; {@code _} for nil
	 * @param line the line with its marker
	 */
	abstract void line(char marker, StringBuilder line);

	/**
	 * Receives a string.
	 * @param bytes its first bytes, as many as {@link #maxBulk} allowed
	 * @param length how many bytes it has
	 */
	abstract void bulk(byte[] bytes, long length);

	/** The most bytes to keep of the next string. */
	abstract int maxBulk();

	/** Receives the start of an array. Its elements are the next values. */
	void array() {
	}

	@Override
	public boolean read(ByteBuf in) {
		while (this.valuesLeft > 0 && in.isReadable()) {
			if (this.bulkLeft > 0) {
				readBulk(in);
			}
			else {
				char next = (char) (in.readByte() & 0xFF);
				if (next == '\n') {
					endLine();
					this.line.setLength(0);
				}
				else if (next != '\r' && this.line.length() < MAX_LINE) {
					this.line.append(next);
				}
			}
		}
		this.answered = this.valuesLeft == 0;
		return this.answered;
	}

	private void readBulk(ByteBuf in) {
		int bytes = (int) Math.min(this.bulkLeft, in.readableBytes());
		int kept = Math.min(bytes, this.bulk.length - this.bulkKept);
		in.readBytes(this.bulk, this.bulkKept, kept).skipBytes(bytes - kept);
		this.bulkKept += kept;
		this.bulkLeft -= bytes;
		if (this.bulkLeft == 0 && isWanted()) {
			bulk(this.bulk, this.bulkBytes);
		}
	}

	private void endLine() {
		char marker = (this.line.isEmpty()) ? ' ' : this.line.charAt(0);
		switch (marker) {
			case '+', '-', ':', ',', '#', '(', '_' -> endLine(marker);
			case '$', '=', '!' -> beginBulk(number(this.line));
			case '*', '~' -> beginArray(number(this.line));
			case '%' -> beginArray(2 * number(this.line));
			case '>' -> this.skipsLeft += number(this.line);
			case '|' -> this.skipsLeft += 2 * number(this.line);
			default -> throw unexpected(this.line);
		}
	}

	private void endLine(char marker) {
		if (isWanted()) {
			line(marker, this.line);
		}
	}

	private void beginBulk(long length) {
		if (length < 0) {
			endLine('_');
			return;
		}
		this.bulkBytes = length;
		this.bulkLeft = length + 2;
		this.bulkKept = 0;
		this.bulk = new byte[(this.skipsLeft > 0) ? 0 : (int) Math.min(length, maxBulk())];
	}

	private void beginArray(long values) {
		if (values < 0) {
			endLine('_');
		}
		else if (this.skipsLeft > 0) {
			this.skipsLeft += values - 1;
		}
		else {
			this.valuesLeft += values - 1;
			array();
		}
	}

	/** Counts a value. Returns {@code false} if it belongs to a push or an attribute. */
	private boolean isWanted() {
		if (this.skipsLeft > 0) {
			this.skipsLeft--;
			return false;
		}
		this.valuesLeft--;
		return true;
	}

	static long number(CharSequence line) {
		try {
			return Long.parseLong(line, 1, line.length(), 10);
		}
		catch (NumberFormatException | IndexOutOfBoundsException ex) {
			throw unexpected(line);
		}
	}

	static DecoderException unexpected(CharSequence reply) {
		return new DecoderException("Redis sent an unexpected reply: " + reply);
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
