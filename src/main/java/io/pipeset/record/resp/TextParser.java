package io.pipeset.record.resp;

import java.util.List;

import io.pipeset.record.Notice;
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

	/** The quote that is open; 0 for none, or for one in the middle of a word. */
	private byte quote;

	/** The index of a quote in the middle of a word; -1 for none. */
	private int middle;

	private final Session session;

	private final QuoteScanner rest = new QuoteScanner();

	/** How many escapes of a line that redis-cli does not know. */
	private long unknownEscapes;

	private long allUnknownEscapes;

	private long unknownEscapeLine;

	/**
	 * Creates a parser.
	 * @param utf8 whether bytes without an escape have to be UTF-8
	 */
	TextParser(boolean utf8, CommandWords command, Session session) {
		this.utf8 = utf8;
		this.command = command;
		this.session = session;
	}

	@Override
	public boolean parse(Record record, long line, byte[] bytes, int from, int to) throws MalformedBodyException {
		if (bytes[from] == '#') {
			return false;
		}
		this.command.begin();
		this.fault = null;
		this.unknownEscapes = 0;
		int at = skipSpace(bytes, from, to);
		if (at == to) {
			fail(at, "a line of white space only");
		}
		while (at < to && this.fault == null) {
			at = skipSpace(bytes, readWord(bytes, at, to), to);
		}
		if (this.fault != null) {
			this.rest.begin(this.quote, false);
			if (this.middle >= 0) {
				this.rest.scan(bytes, this.middle, this.wordEnd);
			}
			this.rest.scan(bytes, Math.min(this.faultAt, to), to);
			checkQuotes((line > 0) ? " (line " + line + ")" : "");
			this.command.refuse(record, line, bytes, 0,
					this.fault + " (byte " + (this.faultAt - from) + " of the record)");
			return true;
		}
		if (this.unknownEscapes > 0) {
			this.unknownEscapeLine = (this.allUnknownEscapes == 0) ? line : this.unknownEscapeLine;
			this.allUnknownEscapes += this.unknownEscapes;
		}
		return this.command.deliver(record, line, bytes, 0);
	}

	/** Throws if what follows is not a command, but the rest of a text in quotes. */
	private void checkQuotes(String line) throws MalformedBodyException {
		if (this.rest.isInQuotes()) {
			throw this.session.lost("a quoted word is not closed before the end of its line" + line
					+ ": the next lines may belong to it, and are not run. In double quotes, \\n stands for a line end;"
					+ " RESP takes any bytes");
		}
	}

	@Override
	public void skip(long line) {
		this.rest.begin();
	}

	@Override
	public void skipPart(byte[] bytes, int from, int to) {
		this.rest.scan(bytes, from, to);
	}

	@Override
	public void endSkipped() throws MalformedBodyException {
		checkQuotes("");
	}

	/** What the lines so far give reason to say to the sender. */
	List<Notice> notices() {
		return (this.allUnknownEscapes == 0) ? List.of() : List
			.of(new Notice("DROPPED_BACKSLASHES", "Backslashes between double quotes before a character that makes no"
					+ " escape of redis-cli, such as the u of \\u00e9: " + this.allUnknownEscapes
					+ ". They are dropped, as redis-cli does: write the character itself, or its bytes as \\xc3\\xa9.",
					this.allUnknownEscapes, this.unknownEscapeLine));
	}

	/** Reads a word, and returns the index after it. */
	private int readWord(byte[] bytes, int from, int to) {
		this.quote = 0;
		this.middle = -1;
		int at = skipPlain(PLAIN, bytes, from, to);
		int start = from;
		this.wordEnd = at;
		if (at < to && (bytes[at] == '"' || bytes[at] == '\'')) {
			// A word may continue in quotes, and ends with the closing quote.
			start = (at == from) ? at + 1 : from;
			this.quote = (at == from) ? bytes[at] : 0;
			this.middle = (at == from) ? -1 : at;
			boolean json = at > from && (bytes[from] == '{' || bytes[from] == '[');
			this.wordEnd = Math.max(at, start);
			at = (bytes[at] == '"') ? readDoubleQuotes(bytes, at + 1, to) : readSingleQuotes(bytes, at + 1, to);
			if (this.fault != null && json) {
				this.fault += "; a JSON document stands in single quotes";
			}
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
				byte letter = bytes[at + 1];
				bytes[this.wordEnd++] = unescape(letter);
				this.unknownEscapes += ("nrtba\"\\".indexOf(letter) < 0) ? 1 : 0;
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
			this.quote = 0;
			this.middle = -1;
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

	private int skipSpace(byte[] bytes, int from, int to) {
		int at = from;
		while (at < to && isSpace(bytes[at])) {
			if (bytes[at] == '\r' && this.fault == null) {
				this.quote = 0;
				this.middle = -1;
				fail(at, "a carriage return stands outside of quotes: lines end with LF or CRLF");
			}
			at++;
		}
		return at;
	}

	private static boolean isSpace(byte b) {
		return b == ' ' || (b >= '\t' && b <= '\r');
	}

}
