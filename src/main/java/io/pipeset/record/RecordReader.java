package io.pipeset.record;

import java.io.IOException;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** Reads a job's records, one at a time. */
public interface RecordReader {

	/**
	 * Reads the next record. An invalid record is also returned, with its
	 * {@link Record#rejection() rejection}, and reading can continue after it.
	 * @param record the record to fill; its previous content is cleared
	 * @return {@code false} at the end of the body; the record is then unchanged
	 * @throws IOException if the body cannot be read, or the start of the next record
	 * cannot be found
	 */
	boolean read(Record record) throws IOException;

	/** What the body so far gives reason to say to its sender. */
	default List<Notice> notices() {
		return List.of();
	}

	/**
	 * How many commands the rows so far have left out, because a group of which a value
	 * is missing is the whole command.
	 * @return 0 or more
	 */
	default long leftOut() {
		return 0;
	}

	/**
	 * The settings that a single row of this body needs in addition to those of the
	 * request: what the body itself says of its rows.
	 * @return texts by the names of settings; {@code null} if they would be too large
	 */
	default @Nullable Map<String, String> rowSettings() {
		return Map.of();
	}

	/**
	 * The consumed share of the bytes read from the body so far; the rest is buffered.
	 * Any thread may call this at any time.
	 * @return 0 to 1
	 */
	default double consumed() {
		return 1;
	}

}
