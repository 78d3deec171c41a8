package io.pipeset.record.mapping;

/** Takes the elements of a value. */
public interface Elements {

	/**
	 * Takes an element.
	 * @param source an array that does not change before the next row
	 * @param string whether the record's encoding applies to it
	 */
	void add(byte[] source, int offset, int length, boolean string);

	/** Refuses the row because an element is null. */
	void refuseNull();

}
