package io.pipeset.record.json;

import io.pipeset.record.Operation;
import io.pipeset.record.Record;
import io.pipeset.record.Rejection;
import io.pipeset.record.body.RecordLimit;
import io.pipeset.record.mapping.Mapping;
import io.pipeset.record.mapping.Templates;
import org.jspecify.annotations.Nullable;

/**
 * Reads one record from one complete JSON value, which may be a line of a body or an
 * element of its array.
 */
abstract sealed class JsonParser permits JsonRecordParser, JsonObjectParser {

	private @Nullable JsonFault fault;

	private int from;

	/**
	 * Opens the parser of a body.
	 * @param defaultOperation the operation of records that name none, or {@code null}
	 */
	static JsonParser of(@Nullable Operation defaultOperation, Mapping mapping, RecordLimit limit) {
		Templates templates = mapping.templates();
		return (templates != null) ? new JsonObjectParser(templates, mapping.nulls(), limit)
				: new JsonRecordParser(defaultOperation, mapping.nulls(), limit);
	}

	/**
	 * Reads a record, and decodes it in place.
	 * @param to the byte after it
	 * @return the place where it is not JSON, or {@code null}
	 */
	final @Nullable JsonFault parse(byte[] bytes, int from, int to) {
		this.from = from;
		this.fault = read(bytes, from, to);
		return this.fault;
	}

	/** Gives the record that was read last another fault, which says more. */
	final void fault(JsonFault fault) {
		this.fault = fault;
	}

	/**
	 * Fills a record with the one that was read last, good or refused.
	 * @param line the record's line, from 1, or 0 if the format has none
	 */
	final void deliver(Record record, long line) {
		record.begin(line);
		JsonFault found = this.fault;
		deliver(record, (found != null) ? new Rejection(Rejection.MALFORMED,
				found.text() + " (byte " + (found.offset() - this.from) + " of the record)") : null);
	}

	/** Reads a record, as {@link #parse} does. */
	abstract @Nullable JsonFault read(byte[] bytes, int from, int to);

	/**
	 * Fills a record that has just begun.
	 * @param fault why it can only be refused, or {@code null}
	 */
	abstract void deliver(Record record, @Nullable Rejection fault);

}
