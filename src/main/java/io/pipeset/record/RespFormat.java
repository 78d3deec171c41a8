package io.pipeset.record;

import java.io.InputStream;

import org.jspecify.annotations.Nullable;

/** Commands as Redis itself reads them: the files that redis-cli --pipe is fed with. */
final class RespFormat implements RecordFormat {

	@Override
	public String mediaType() {
		return "application/x-redis-resp";
	}

	@Override
	public RecordReader open(InputStream body, @Nullable Operation defaultOperation, RecordLimit limit) {
		return new RespReader(new BodyBuffer(body, limit), limit);
	}

}
