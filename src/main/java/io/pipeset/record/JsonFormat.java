package io.pipeset.record;

import java.io.InputStream;

import org.jspecify.annotations.Nullable;

/** Records as one array, for callers whose libraries write nothing else. */
final class JsonFormat implements RecordFormat {

	@Override
	public String mediaType() {
		return "application/json";
	}

	@Override
	public RecordReader open(InputStream body, @Nullable Operation defaultOperation, RecordLimit limit) {
		return new JsonArrayReader(new BodyBuffer(body, limit), new JsonRecordParser(defaultOperation, limit), limit);
	}

}
