package io.pipeset.record.mapping;

import java.util.Set;

import io.pipeset.record.Operation;

/**
 * Where a value is to stand in a record. The place alone decides what becomes of a value
 * that is absent, null, empty or composite: {@link #decide} is the table of
 * {@code docs/templates.md}.
 */
enum Place {

	/** A key, or a part of one. */
	KEY,

	/** The value of SET, or a part of it. */
	VALUE,

	/** The value of a field that is named. */
	FIELD,

	/** The value of a field that is one of all of a row, or of an object. */
	PAIR,

	/** An argument or word, or a part of one. */
	ARGUMENT,

	/** An argument that is a member, of which an array would be several. */
	MEMBER,

	/** A value whose elements are several arguments. */
	SPREAD,

	/** A value whose names and values are fields. */
	SPREAD_FIELDS,

	/** An element of an array that is spread. */
	ELEMENT,

	/** The expiry or the id of a record. */
	OPTION,

	/** Between double quotes in a text of JSON. */
	JSON_STRING,

	/** Outside of quotes in a text of JSON. */
	JSON;

	/** The operations of whose arguments each is a member. */
	private static final Set<Operation> OF_MEMBERS = Set.of(Operation.SADD, Operation.SREM, Operation.HDEL,
			Operation.ZREM, Operation.PFADD);

	/** The place of a whole argument after the key. */
	static Place ofArgument(Operation operation) {
		return (OF_MEMBERS.contains(operation)) ? MEMBER : ARGUMENT;
	}

	/**
	 * Decides what becomes of a value.
	 * @param empty whether it is a text without characters
	 * @param table whether the row is one of cells or columns
	 */
	Verdict decide(State state, boolean empty, Nulls nulls, boolean table) {
		return switch (state) {
			case ABSENT ->
				(this == FIELD || this == SPREAD_FIELDS || this == OPTION) ? ofNull(nulls, false) : Verdict.REFUSE;
			case NULL -> ofNull(nulls, table);
			case TEXT -> (empty) ? ofEmpty(nulls) : Verdict.TAKE;
			case COMPOSITE -> (this == KEY || this == OPTION || this == JSON_STRING) ? Verdict.REFUSE : Verdict.TAKE;
			case SCALAR, BYTES -> Verdict.TAKE;
		};
	}

	private Verdict ofNull(Nulls nulls, boolean table) {
		return switch (this) {
			case KEY, ARGUMENT, MEMBER, SPREAD, JSON_STRING -> Verdict.REFUSE;
			case JSON -> Verdict.NULL;
			case VALUE -> switch (nulls) {
				case EMPTY -> Verdict.EMPTY;
				case DELETE -> Verdict.DELETE;
				default -> Verdict.REFUSE;
			};
			case PAIR -> (table && nulls == Nulls.REFUSE) ? Verdict.LEAVE_OUT : ofField(nulls);
			case FIELD, ELEMENT -> ofField(nulls);
			case SPREAD_FIELDS, OPTION -> (nulls == Nulls.REFUSE) ? Verdict.REFUSE : Verdict.LEAVE_OUT;
		};
	}

	private static Verdict ofField(Nulls nulls) {
		return switch (nulls) {
			case SKIP -> Verdict.LEAVE_OUT;
			case EMPTY -> Verdict.EMPTY;
			default -> Verdict.REFUSE;
		};
	}

	private Verdict ofEmpty(Nulls nulls) {
		return switch (this) {
			case OPTION -> ofNull(nulls, false);
			case JSON -> Verdict.REFUSE;
			default -> Verdict.TAKE;
		};
	}

	/** What becomes of a value. */
	enum Verdict {

		/** It is taken as it is. */
		TAKE,

		/** It is the empty string. */
		EMPTY,

		/** It is the null of JSON. */
		NULL,

		/** What has it is left out. */
		LEAVE_OUT,

		/** The record deletes its key. */
		DELETE,

		/** The record is refused. */
		REFUSE

	}

}
