package io.pipeset.record;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What a record held when it was read; bytes as ISO 8859-1, so that no two of them look
 * the same.
 */
record Snapshot(long index, long line, String id, String operation, List<String> arguments, String code,
		String message) {

	static final int MAX_RECORD_BYTES = 1 << 20;

	static Snapshot of(Record record) {
		List<String> arguments = new ArrayList<>();
		for (int i = 0; i < record.argumentCount(); i++) {
			arguments
				.add(new String(record.source(i), record.offset(i), record.length(i), StandardCharsets.ISO_8859_1));
		}
		Rejection rejection = record.rejection();
		return new Snapshot(record.index(), record.line(), record.id(),
				(record.hasOperation()) ? record.operation().name() : null, arguments,
				(rejection != null) ? rejection.code() : null, (rejection != null) ? rejection.message() : null);
	}

	static List<Snapshot> readAll(RecordReader reader) throws IOException {
		List<Snapshot> snapshots = new ArrayList<>();
		Record record = new Record();
		while (reader.read(record)) {
			snapshots.add(of(record));
		}
		return snapshots;
	}

	static List<Snapshot> ndjson(InputStream body, int maxRecordBytes) throws IOException {
		return readAll(new NdjsonFormat().open(body, null, new RecordLimit(maxRecordBytes)));
	}

	static List<Snapshot> ndjson(String body) {
		try {
			return ndjson(stream(body), MAX_RECORD_BYTES);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static List<Snapshot> json(InputStream body, int maxRecordBytes) throws IOException {
		return readAll(new JsonFormat().open(body, null, new RecordLimit(maxRecordBytes)));
	}

	static List<Snapshot> json(String body) throws IOException {
		return json(stream(body), MAX_RECORD_BYTES);
	}

	/** The one record of an NDJSON body. */
	static Snapshot line(String line) {
		List<Snapshot> snapshots = ndjson(line);
		if (snapshots.size() != 1) {
			throw new AssertionError(snapshots.size() + " records in " + line);
		}
		return snapshots.get(0);
	}

	/** The one record of an NDJSON body whose job has a default operation. */
	static Snapshot line(String line, Operation defaultOperation) throws IOException {
		List<Snapshot> snapshots = readAll(
				new NdjsonFormat().open(stream(line), defaultOperation, new RecordLimit(MAX_RECORD_BYTES)));
		return snapshots.get(0);
	}

	/** The bytes of a text in which each character up to U+00FF stands for its byte. */
	static InputStream latin1(String bytes) {
		return new ByteArrayInputStream(bytes.getBytes(StandardCharsets.ISO_8859_1));
	}

	static String utf8(String text) {
		return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
	}

	private static InputStream stream(String body) {
		return new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8));
	}

	List<String> words() {
		List<String> words = new ArrayList<>();
		words.add(this.operation);
		words.addAll(this.arguments);
		return words;
	}

}
