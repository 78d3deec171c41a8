package io.pipeset.record;

/**
 * A row or line that could not become a record, as the list of a job's failures has it:
 * posted again, it is read like the row that it was.
 *
 * @param row the text of the row, which a caller may have corrected
 * @param settings the settings by which the job read it, as a JSON object
 */
public record RowItem(String row, String settings) {

	/** The largest settings, in characters: they have names and templates. */
	public static final int MAX_SETTINGS = 64 << 10;

	/** The member of settings that has the media type of the row. */
	public static final String TYPE = "type";

	/** The member of settings that has the number of the row in its body, from 0. */
	public static final String INDEX = "index";

}
