package io.pipeset.record.mapping;

/** What a value that is spread turned out to be. */
public enum Spreading {

	/** One value, which is one element. */
	SINGLE,

	/** An array, whose elements were taken. */
	ARRAY,

	/** An object, whose names and values were taken in turn. */
	OBJECT

}
