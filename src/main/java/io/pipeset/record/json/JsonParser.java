package io.pipeset.record.json;

import java.util.List;

import io.pipeset.record.Notice;
import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.grammar.JsonFault;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/**
 * Reads one record from one complete JSON value: a line of a body, or an element of its
 * array.
 */
abstract sealed class JsonParser permits JsonRecordParser, JsonObjectParser {

	private @Nullable JsonFault fault;

	private int from;

	/**
	 * Creates the parser for a body.
	 * @param defaultOperation the operation of records that name none, or {@code null}
	 */
	static JsonParser of(@Nullable Operation defaultOperation, Mapping mapping, RecordLimit limit) {
		Templates templates = mapping.templates();
		return (templates != null) ? new JsonObjectParser(templates, mapping.nulls(), mapping.rows(), limit)
				: new JsonRecordParser(defaultOperation, mapping.nulls(), limit);
	}

	/**
	 * Reads a record, and decodes it in place.
	 * @param to the index after its last byte
	 * @return the mistake in its JSON, or {@code null}
	 */
	final @Nullable JsonFault parse(byte[] bytes, int from, int to) {
		this.from = from;
		this.fault = read(bytes, from, to);
		return this.fault;
	}

	/**
	 * Reads a member of an object, its name and its value, as one row.
	 * @param from the opening quote of the name
	 * @param to the byte after the value
	 * @return the place where it is not JSON, or {@code null}
	 */
	final @Nullable JsonFault parseEntry(byte[] bytes, int from, int to) {
		this.from = from;
		this.fault = readEntry(bytes, from, to);
		return this.fault;
	}

	/**
	 * Reads an element of the array whose elements are rows.
	 * @param to the byte after it
	 * @return the place where it is not JSON, or {@code null}
	 */
	final @Nullable JsonFault parseItem(byte[] bytes, int from, int to) {
		this.from = from;
		this.fault = readItem(bytes, from, to);
		return this.fault;
	}

	/** Replaces the fault of the last record by a more helpful one. */
	final void fault(JsonFault fault) {
		this.fault = fault;
	}

	/**
	 * Fills a record from the last value read; it may be refused.
	 * @param line the record's line, from 1, or 0 if the format has none
	 */
	final void deliver(Record record, long line) {
		record.begin(line);
		JsonFault found = this.fault;
		deliver(record, (found != null) ? new Rejection(Rejection.MALFORMED,
				found.text() + " (byte " + (found.offset() - this.from) + " of the record)") : null);
	}

	/** Reads a record; see {@link #parse}. */
	abstract @Nullable JsonFault read(byte[] bytes, int from, int to);

	/** Reads a member, as {@link #parseEntry} does. */
	@Nullable JsonFault readEntry(byte[] bytes, int from, int to) {
		throw new IllegalStateException("only templates make records of members");
	}

	/** Reads an element, as {@link #parseItem} does. */
	@Nullable JsonFault readItem(byte[] bytes, int from, int to) {
		throw new IllegalStateException("only templates make records of elements");
	}

	/** What the values so far give reason to say to the sender. */
	List<Notice> notices() {
		return List.of();
	}

	/** How many commands the rows so far have left out. */
	long leftOut() {
		return 0;
	}

	/** Why the whole body is no body of rows; {@code null} if it may be one. */
	@Nullable String problemAtEnd() {
		return null;
	}

	/** The body began with an object, which may be a map of rows. */
	void expectSingle() {
	}

	/** Whether the value that was read last makes a record at all. */
	boolean makesRecord() {
		return true;
	}

	/** Whether the value that was read last makes another record. */
	boolean hasNext() {
		return false;
	}

	/** Counts a value that is too large to be read. */
	void skip() {
	}

	/**
	 * Fills a record, which has just begun.
	 * @param fault the reason to refuse it, or {@code null}
	 */
	abstract void deliver(Record record, @Nullable Rejection fault);

}
