package io.pipeset.record.resp;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.stream.Stream;

import io.pipeset.record.Notice;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.body.BodyBuffer;
import io.pipeset.record.body.LineReader;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.encoding.Excerpt;

/**
 * Finds the commands of a body by their declared lengths. It does not trust a length
 * before all its bytes have arrived. After a broken length, values and commands cannot be
 * distinguished, so the job ends.
 */
public final class RespReader implements RecordReader {

	private final BodyBuffer buffer;

	private final RecordLimit limit;

	private final RespHeader header;

	private final TextParser text;

	/** Reads inline commands, and skips blank lines between commands. */
	private final LineReader lines;

	/**
	 * The current command, inline or not. Both kinds share it, so that no words of one
	 * remain for the other.
	 */
	private final CommandWords command;

	private final Session session;

	/** The number of bulk strings of an oversized command that are still to skip. */
	private long bulksToSkip;

	private long bytesToSkip;

	public RespReader(InputStream body, RecordLimit limit) {
		this.buffer = new BodyBuffer(body, limit);
		this.limit = limit;
		this.header = new RespHeader(this.buffer);
		this.session = new Session(this.buffer, limit.database());
		this.command = new CommandWords(limit, this.session);
		this.text = new TextParser(false, this.command, this.session);
		this.lines = new LineReader(this.buffer, this.text, limit, false);
	}

	@Override
	public boolean read(Record record) throws IOException {
		this.header.throwIfLost();
		this.buffer.beginRecord();
		skipOversized();
		while (this.lines.findLine()) {
			byte first = this.buffer.bytes()[this.buffer.start()];
			if (first == '*') {
				if (readCommand(record)) {
					return true;
				}
			}
			else if (beginsInlineCommand(first)) {
				if (this.lines.readLine(record)) {
					return true;
				}
			}
			else {
				throw this.header.lost(this.buffer.start(),
						"expected '*' or an inline command, found " + Excerpt.ofByte(first));
			}
		}
		this.session.end();
		return false;
	}

	@Override
	public List<Notice> notices() {
		return Stream.concat(this.session.notices().stream(), this.text.notices().stream()).toList();
	}

	@Override
	public double consumed() {
		return this.buffer.consumed();
	}

	/**
	 * Reads the command at the start of the buffer. An empty command is skipped, as in
	 * Redis.
	 * @return {@code false} if it is not a record
	 */
	private boolean readCommand(Record record) throws IOException {
		long nullIndex = -1;
		long words = this.header.read('*', 0, Integer.MAX_VALUE, "a command");
		int at = this.header.length();
		this.command.begin();
		record.copyRaw(this.buffer.bytes(), this.buffer.start(), this.buffer.start() + at);
		if (words == RespHeader.NULL) {
			nullIndex = 0;
		}
		if (words > this.limit.arguments() + 1L) {
			record.begin(0);
			this.limit.refuseArguments(record);
			skip(at, 0, words);
			return true;
		}
		for (long i = 0; i < words; i++) {
			long length = this.header.read('$', at, RespHeader.MAX_BULK_BYTES, "a bulk string");
			at += this.header.length();
			long size = size(length);
			if (at + size > this.limit.bytes()) {
				record.copyRaw(this.buffer.bytes(), this.buffer.start(), this.buffer.start() + at);
				this.limit.refuse(record, 0);
				skip(at, size, words - i - 1);
				return true;
			}
			if (length == RespHeader.NULL) {
				nullIndex = (nullIndex < 0) ? i : nullIndex;
				continue;
			}
			int end = at + (int) length;
			this.header.expectStringEnd(end);
			if (nullIndex < 0) {
				this.command.add(at, (int) length);
			}
			at = end + RespHeader.CRLF;
		}
		int start = this.buffer.start();
		record.copyRaw(this.buffer.bytes(), start, start + at);
		boolean found = false;
		if (nullIndex >= 0) {
			this.command.refuse(record, 0, this.buffer.bytes(), start, nullAt(nullIndex));
			found = true;
		}
		else if (words > 0) {
			found = this.command.deliver(record, 0, this.buffer.bytes(), start);
		}
		this.buffer.consume(start + at);
		return found;
	}

	/** The size of a bulk string with its line end. A null has neither. */
	private static long size(long length) {
		return (length == RespHeader.NULL) ? 0 : length + RespHeader.CRLF;
	}

	private static String nullAt(long word) {
		return ((word == 0) ? "the command, or its name, is null" : "argument " + word + " is null")
				+ " (a length of -1): a command has no nulls, and an empty string has the length 0";
	}

	private void skip(int at, long bytes, long bulks) {
		this.buffer.consume(this.buffer.start() + at);
		this.bytesToSkip = bytes;
		this.bulksToSkip = bulks;
	}

	private void skipOversized() throws IOException {
		skipBulk();
		while (this.bulksToSkip > 0) {
			this.bytesToSkip = size(this.header.read('$', 0, RespHeader.MAX_BULK_BYTES, "a bulk string"));
			this.buffer.consume(this.buffer.start() + this.header.length());
			this.bulksToSkip--;
			skipBulk();
		}
	}

	private void skipBulk() throws IOException {
		while (this.bytesToSkip > RespHeader.CRLF) {
			this.header.require(1);
			int available = this.buffer.end() - this.buffer.start();
			int skipped = (int) Math.min(available, this.bytesToSkip - RespHeader.CRLF);
			this.buffer.consume(this.buffer.start() + skipped);
			this.bytesToSkip -= skipped;
		}
		if (this.bytesToSkip > 0) {
			this.header.expectLineEnd(0);
			this.buffer.consume(this.buffer.start() + RespHeader.CRLF);
			this.bytesToSkip = 0;
		}
	}

	// A line may only begin like a name, because another byte is more likely the middle
	// of a value. The rest of a value must not be read as commands. Redis writes comments
	// with # into its append-only files.
	private static boolean beginsInlineCommand(byte first) {
		return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '"' || first == '\''
				|| first == '#';
	}

}
