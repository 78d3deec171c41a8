package io.pipeset.record;

import java.io.InputStream;

import org.jspecify.annotations.Nullable;

/** Commands one a line, as one types them into redis-cli. */
final class TextFormat implements RecordFormat {

	@Override
	public String mediaType() {
		return "text/plain";
	}

	@Override
	public RecordReader open(InputStream body, @Nullable Operation defaultOperation, RecordLimit limit) {
		return new LineReader(new BodyBuffer(body, limit), new TextParser(true, new Command(limit)), limit, true);
	}

}
