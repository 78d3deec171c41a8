package io.pipeset.record.resp;

import java.io.IOException;

import io.pipeset.record.body.BodyBuffer;
import io.pipeset.record.body.FormatHints;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lengths in RESP, by the rules of Redis: digits without a sign or a leading
 * zero, up to a bound. The only exception is -1, for a null. Positions ({@code at}) are
 * relative to the start of the buffer, where a command begins.
 */
final class RespHeader {

	/** The size of a line end, in bytes. */
	static final int CRLF = 2;

	/**
	 * The largest bulk string in bytes: the default of Redis's
	 * {@code proto-max-bulk-len}.
	 */
	static final long MAX_BULK_BYTES = 512L << 20;

	/** The length of a null. */
	static final long NULL = -1;

	private static final int MAX_DIGITS = 10;

	private final BodyBuffer buffer;

	private int length;

	private @Nullable MalformedBodyException lost;

	RespHeader(BodyBuffer buffer) {
		this.buffer = buffer;
	}

	/**
	 * Reads a length.
	 * @param marker the byte before it
	 * @param at the position of the marker
	 * @param what the element with this length, for messages
	 * @return the length, or {@link #NULL}
	 */
	long read(char marker, int at, long most, String what) throws IOException {
		require(at + 1);
		if (this.buffer.bytes()[this.buffer.start() + at] != marker) {
			throw unexpected(at, "'" + marker + "' and the length of " + what);
		}
		int next = at + 1;
		require(next + 1);
		if (this.buffer.bytes()[this.buffer.start() + next] == '-') {
			return readNull(at);
		}
		long number = 0;
		while (true) {
			require(next + 1);
			int digit = this.buffer.bytes()[this.buffer.start() + next] - '0';
			if (digit < 0 || digit > 9) {
				break;
			}
			number = number * 10 + digit;
			next++;
			if (next - at > MAX_DIGITS + 1 || number > most || (number == digit && next > at + 2)) {
				throw lost(this.buffer.start() + at + 1,
						"the length of " + what + " must be 0 to " + most + ", without leading zeros");
			}
		}
		if (next == at + 1) {
			throw unexpected(next, "the length of " + what + ", 0 to " + most);
		}
		if (this.buffer.bytes()[this.buffer.start() + next] == '$') {
			throw lost(this.buffer.start() + next, "expected \\r\\n, found '$': " + FormatHints.KEEP_LINE_BREAKS);
		}
		expectLineEnd(next);
		this.length = next + CRLF - at;
		return number;
	}

	private long readNull(int at) throws IOException {
		require(at + 3);
		if (this.buffer.bytes()[this.buffer.start() + at + 2] != '1') {
			throw unexpected(at + 2, "1, for the length -1 of a null");
		}
		expectLineEnd(at + 3);
		this.length = 3 + CRLF;
		return NULL;
	}

	/** The size in bytes of the last header: marker, digits and line end. */
	int length() {
		return this.length;
	}

	/** Expects a line end at a position. */
	void expectLineEnd(int at) throws IOException {
		expectLineEnd(at, "");
	}

	/** Expects the end of a string at a position. */
	void expectStringEnd(int at) throws IOException {
		expectLineEnd(at, ": a length counts the bytes of a string, and not its characters");
	}

	private void expectLineEnd(int at, String advice) throws IOException {
		require(at + CRLF);
		for (int i = 0; i < CRLF; i++) {
			byte found = this.buffer.bytes()[this.buffer.start() + at + i];
			if (found != "\r\n".charAt(i)) {
				throw unexpected(at + i, (i == 0) ? "\\r\\n" : "\\n after \\r",
						(i == 0 && found == '\n') ? ": lines of RESP end with CR LF; unix2dos converts them" : advice);
			}
		}
	}

	/** Reads until a number of bytes is in the buffer. */
	void require(int bytes) throws IOException {
		while (this.buffer.end() - this.buffer.start() < bytes) {
			if (!this.buffer.fill()) {
				throw lost(this.buffer.end(), "the body ends inside a command");
			}
		}
	}

	/** Throws the earlier mistake again, because nothing can be read after it. */
	void throwIfLost() throws MalformedBodyException {
		if (this.lost != null) {
			throw this.lost;
		}
	}

	/** Remembers that no further command can be found in the body. */
	MalformedBodyException lost(int index, String message) {
		MalformedBodyException exception = new MalformedBodyException(this.buffer.offset(index), message);
		this.lost = exception;
		return exception;
	}

	private MalformedBodyException unexpected(int at, String expected) {
		return unexpected(at, expected, "");
	}

	private MalformedBodyException unexpected(int at, String expected, String advice) {
		int index = this.buffer.start() + at;
		return lost(index, "expected " + expected + ", found " + Excerpt.ofByte(this.buffer.bytes()[index]) + advice);
	}

}
