package io.pipeset.record.resp;

import io.pipeset.record.Record;
import io.pipeset.record.body.LineParser;
import io.pipeset.record.body.MalformedBodyException;
import io.pipeset.record.body.PlainBytes;
import io.pipeset.record.body.Utf8;
import io.pipeset.record.encoding.Excerpt;
import org.jspecify.annotations.Nullable;

/**
 * Splits a line into words exactly like redis-cli and Redis's inline commands, by
 * {@code sdssplitargs} of Redis's
 * <a href= "https://github.com/redis/redis/blob/7.0/src/sds.c">sds.c</a>. Words are
 * decoded in place, because a decoded word is never longer than the written one. A line
 * that begins with {@code #} is a comment.
 */
final class TextParser implements LineParser {

	/** The bytes that need no decoding outside of quotes. */
	private static final PlainBytes PLAIN = PlainBytes.asciiExcept("\0 \t\n\r\"'");

	private static final PlainBytes PLAIN_IN_DOUBLE_QUOTES = PlainBytes.asciiExcept("\0\"\\");

	private static final PlainBytes PLAIN_IN_SINGLE_QUOTES = PlainBytes.asciiExcept("\0'\\");

	private final CommandWords command;

	private final boolean utf8;

	private int wordEnd;

	private @Nullable String fault;

	private int faultAt;

	/**
	 * Creates a parser.
	 * @param utf8 whether bytes without an escape have to be UTF-8
	 */
	TextParser(boolean utf8, CommandWords command) {
		this.utf8 = utf8;
		this.command = command;
	}

	@Override
	public boolean parse(Record record, long line, byte[] bytes, int from, int to) throws MalformedBodyException {
		if (bytes[from] == '#') {
			return false;
		}
		this.command.begin();
		this.fault = null;
		int at = skipSpace(bytes, from, to);
		if (at == to) {
			fail(at, "a line of white space only");
		}
		while (at < to && this.fault == null) {
			at = skipSpace(bytes, readWord(bytes, at, to), to);
		}
		if (this.fault != null) {
			this.command.refuse(record, line, bytes, 0,
					this.fault + " (byte " + (this.faultAt - from) + " of the record)");
			return true;
		}
		return this.command.deliver(record, line, bytes, 0);
	}

	/** Reads a word, and returns the index after it. */
	private int readWord(byte[] bytes, int from, int to) {
		int at = skipPlain(PLAIN, bytes, from, to);
		int start = from;
		this.wordEnd = at;
		if (at < to && (bytes[at] == '"' || bytes[at] == '\'')) {
			// A word may continue in quotes, and ends with the closing quote.
			start = (at == from) ? at + 1 : from;
			this.wordEnd = Math.max(at, start);
			at = (bytes[at] == '"') ? readDoubleQuotes(bytes, at + 1, to) : readSingleQuotes(bytes, at + 1, to);
		}
		if (this.fault == null) {
			this.command.add(start, this.wordEnd - start);
		}
		return at;
	}

	private int readDoubleQuotes(byte[] bytes, int from, int to) {
		int at = from;
		while (this.fault == null) {
			at = copyPlain(PLAIN_IN_DOUBLE_QUOTES, bytes, at, to);
			if (at >= to - 1 || bytes[at] != '\\') {
				return closeQuotes(bytes, at, to, '"');
			}
			int hex = (bytes[at + 1] == 'x' && at + 3 < to)
					? (Character.digit(bytes[at + 2], 16) << 4) | Character.digit(bytes[at + 3], 16) : -1;
			if (hex >= 0) {
				bytes[this.wordEnd++] = (byte) hex;
				at += 4;
			}
			else if (bytes[at + 1] <= 0) {
				// Drop the backslash, and check the next byte like any other.
				at++;
				at = copyPlain(PLAIN_IN_DOUBLE_QUOTES, bytes, at, to);
			}
			else {
				bytes[this.wordEnd++] = unescape(bytes[at + 1]);
				at += 2;
			}
		}
		return at;
	}

	private int readSingleQuotes(byte[] bytes, int from, int to) {
		int at = from;
		while (this.fault == null) {
			at = copyPlain(PLAIN_IN_SINGLE_QUOTES, bytes, at, to);
			if (at >= to - 1 || bytes[at] != '\\') {
				return closeQuotes(bytes, at, to, '\'');
			}
			if (bytes[at + 1] == '\'') {
				at++;
			}
			bytes[this.wordEnd++] = bytes[at++];
		}
		return at;
	}

	private int closeQuotes(byte[] bytes, int at, int to, char quote) {
		if (this.fault != null) {
			return at;
		}
		if (at == to || bytes[at] != quote) {
			fail(to, "a quoted word is not closed: expected " + quote + ", found the end of the line");
		}
		else if (at + 1 < to && !isSpace(bytes[at + 1])) {
			fail(at + 1, "expected a space or the end of the line after a closing quote, found "
					+ Excerpt.ofByte(bytes[at + 1]));
		}
		return at + 1;
	}

	private int copyPlain(PlainBytes plain, byte[] bytes, int from, int to) {
		int at = skipPlain(plain, bytes, from, to);
		if (this.wordEnd != from) {
			System.arraycopy(bytes, from, bytes, this.wordEnd, at - from);
		}
		this.wordEnd += at - from;
		return at;
	}

	private int skipPlain(PlainBytes plain, byte[] bytes, int from, int to) {
		int at = from;
		while (true) {
			at = plain.skip(bytes, at, to);
			if (at == to || bytes[at] > 0) {
				return at;
			}
			int length = (bytes[at] == 0) ? 0 : (this.utf8) ? Utf8.characterLength(bytes, at, to) : 1;
			if (length == 0) {
				fail(at, (bytes[at] == 0) ? "a NUL is written as \"\\x00\", in double quotes"
						: "a line is UTF-8, and other bytes are written as \"\\xHH\" in double quotes: found "
								+ Excerpt.ofByte(bytes[at]));
				return at;
			}
			at += length;
		}
	}

	private void fail(int at, String message) {
		this.fault = message;
		this.faultAt = at;
	}

	private static byte unescape(byte letter) {
		return (byte) switch (letter) {
			case 'n' -> '\n';
			case 'r' -> '\r';
			case 't' -> '\t';
			case 'b' -> '\b';
			case 'a' -> 0x07;
			default -> letter;
		};
	}

	private static int skipSpace(byte[] bytes, int from, int to) {
		int at = from;
		while (at < to && isSpace(bytes[at])) {
			at++;
		}
		return at;
	}

	private static boolean isSpace(byte b) {
		return b == ' ' || (b >= '\t' && b <= '\r');
	}

}
