package io.pipeset.record;

import java.io.InputStream;

import org.jspecify.annotations.Nullable;

/** Records one a line, so that a bad one costs none of its neighbours. */
final class NdjsonFormat implements RecordFormat {

	@Override
	public String mediaType() {
		return "application/x-ndjson";
	}

	@Override
	public RecordReader open(InputStream body, @Nullable Operation defaultOperation, RecordLimit limit) {
		JsonRecordParser parser = new JsonRecordParser(defaultOperation);
		return new LineReader(new BodyBuffer(body, limit), (record, line, bytes, from, to) -> {
			parser.parse(bytes, from, to);
			parser.deliver(record, line);
		}, limit, true);
	}

}
