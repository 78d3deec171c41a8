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

/** Reads a body with one command per line. */
public final class TextReader implements RecordReader {

	private final Session session;

	private final TextParser text;

	private final LineReader lines;

	public TextReader(InputStream body, RecordLimit limit) {
		BodyBuffer buffer = new BodyBuffer(body, limit);
		this.session = new Session(buffer, limit.database());
		this.text = new TextParser(true, new CommandWords(limit, this.session), this.session);
		this.lines = new LineReader(buffer, this.text, limit, true);
	}

	@Override
	public boolean read(Record record) throws IOException {
		boolean found = this.lines.read(record);
		if (!found) {
			this.session.end();
		}
		return found;
	}

	@Override
	public List<Notice> notices() {
		return Stream.concat(this.session.notices().stream(), this.text.notices().stream()).toList();
	}

	@Override
	public double consumed() {
		return this.lines.consumed();
	}

}
