package io.pipeset.record;

import java.io.InputStream;

import org.jspecify.annotations.Nullable;

/** Records as rows under a header, as spreadsheets and databases export them. */
final class CsvFormat implements RecordFormat {

	@Override
	public String mediaType() {
		return "text/csv";
	}

	@Override
	public RecordReader open(InputStream body, @Nullable Operation defaultOperation, RecordLimit limit) {
		return new CsvReader(new BodyBuffer(body, limit), limit, defaultOperation);
	}

}
