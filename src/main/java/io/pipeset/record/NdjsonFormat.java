package io.pipeset.record;

import java.io.InputStream;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/** Records one a line, so that a bad one costs none of its neighbours. */
final class NdjsonFormat implements RecordFormat {

	static final String NAME = "application/x-ndjson";

	/** No name of it is registered, and these are in use as well. */
	static final Set<String> OTHER_NAMES = Set.of("application/ndjson", "application/jsonl", "application/x-jsonl",
			"application/jsonlines", "application/x-jsonlines");

	@Override
	public String mediaType() {
		return NAME;
	}

	@Override
	public RecordReader open(InputStream body, @Nullable Operation defaultOperation, RecordLimit limit) {
		JsonRecordParser parser = new JsonRecordParser(defaultOperation, limit);
		return new NdjsonReader(new BodyBuffer(body, limit), (record, line, bytes, from, to) -> {
			parser.parse(bytes, from, to);
			parser.deliver(record, line);
		}, limit);
	}

}
