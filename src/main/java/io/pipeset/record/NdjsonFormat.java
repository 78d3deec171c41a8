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
	public RecordReader open(InputStream body, @Nullable Operation defaultOperation, int maxRecordBytes) {
		RecordLimit limit = new RecordLimit(maxRecordBytes);
		return new NdjsonReader(new BodyBuffer(body, limit), new JsonRecordParser(defaultOperation), limit);
	}

}
