package io.pipeset.record.format;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.RecordReader;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.Limits;

/**
 * The content of a record after it was read. Bytes are shown as ISO 8859-1, so that
 * different bytes look different.
 *
 * @param index the record's position in its job
 * @param line its line
 * @param id the caller's id of the record
 * @param operation the operation's name
 * @param arguments the arguments
 * @param code the code of the error for which it is refused
 * @param message the message of that error
 */
public record Snapshot(long index, long line, String id, String operation, List<String> arguments, String code,
		String message) {

	/** The largest record, unless a test says otherwise. */
	public static final int MAX_RECORD_BYTES = 1 << 20;

	/**
	 * Copies the content of a record.
	 * @param record the record
	 * @return its contents
	 */
	public static Snapshot of(Record record) {
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

	/**
	 * Copies the content of all records.
	 * @param reader the source of the records
	 * @return their contents
	 * @throws IOException if the body cannot be read
	 */
	public static List<Snapshot> readAll(RecordReader reader) throws IOException {
		List<Snapshot> snapshots = new ArrayList<>();
		Record record = new Record();
		while (reader.read(record)) {
			snapshots.add(of(record));
		}
		return snapshots;
	}

	/**
	 * The records of an NDJSON body.
	 * @param body the body
	 * @param maxRecordBytes the largest record
	 * @return their contents
	 * @throws IOException if the body cannot be read
	 */
	public static List<Snapshot> ndjson(InputStream body, int maxRecordBytes) throws IOException {
		return readAll(RecordFormat.NDJSON.open(body, null, Limits.ofBytes(maxRecordBytes)));
	}

	/**
	 * The records of an NDJSON body.
	 * @param body the body
	 * @return their contents
	 */
	public static List<Snapshot> ndjson(String body) {
		try {
			return ndjson(stream(body), MAX_RECORD_BYTES);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The records of a JSON body.
	 * @param body the body
	 * @param maxRecordBytes the largest record
	 * @return their contents
	 * @throws IOException if the body cannot be read
	 */
	public static List<Snapshot> json(InputStream body, int maxRecordBytes) throws IOException {
		return readAll(RecordFormat.JSON.open(body, null, Limits.ofBytes(maxRecordBytes)));
	}

	/**
	 * The records of a JSON body.
	 * @param body the body
	 * @return their contents
	 * @throws IOException if the body cannot be read
	 */
	public static List<Snapshot> json(String body) throws IOException {
		return json(stream(body), MAX_RECORD_BYTES);
	}

	/**
	 * The one record of an NDJSON body.
	 * @param line the body
	 * @return its contents
	 */
	public static Snapshot line(String line) {
		List<Snapshot> snapshots = ndjson(line);
		if (snapshots.size() != 1) {
			throw new AssertionError(snapshots.size() + " records in " + line);
		}
		return snapshots.get(0);
	}

	/**
	 * The one record of an NDJSON body whose job has a default operation.
	 * @param line the body
	 * @param defaultOperation the operation
	 * @return its contents
	 * @throws IOException if the body cannot be read
	 */
	public static Snapshot line(String line, Operation defaultOperation) throws IOException {
		List<Snapshot> snapshots = readAll(
				RecordFormat.NDJSON.open(stream(line), defaultOperation, Limits.ofBytes(MAX_RECORD_BYTES)));
		return snapshots.get(0);
	}

	/**
	 * The bytes of a text in which each character up to U+00FF stands for its byte.
	 * @param bytes the text
	 * @return the bytes
	 */
	public static InputStream latin1(String bytes) {
		return new ByteArrayInputStream(bytes.getBytes(StandardCharsets.ISO_8859_1));
	}

	/**
	 * The UTF-8 of a text, with a character up to U+00FF for each byte.
	 * @param text the text
	 * @return its bytes
	 */
	public static String utf8(String text) {
		return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
	}

	private static InputStream stream(String body) {
		return new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * The command as words.
	 * @return its name and arguments
	 */
	public List<String> words() {
		List<String> words = new ArrayList<>();
		words.add(this.operation);
		words.addAll(this.arguments);
		return words;
	}

}
