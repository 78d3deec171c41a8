package io.pipeset.input;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Map;

import io.pipeset.record.RecordReader;
import io.pipeset.record.body.RecordLimit;

/**
 * Records of rows that the service fetches itself, from a source that the request names.
 * Reading them throws a {@link SourceException} if the source fails.
 */
public interface FetchedRows extends RecordReader {

	/**
	 * Prepares the first read.
	 * @param wait surrounds each step that may wait for the source
	 */
	void begin(RecordLimit limit, Wait wait);

	/** Ends a read that waits, and all later ones. Any thread may call this. */
	void abort();

	/** Adds the settings that name the source to a report. */
	void addTo(Map<String, Object> report);

	/** Closes the source. */
	void close();

	/** Takes note that the job waits for its source. */
	interface Wait {

		/** Takes no note. */
		Wait NONE = new Wait() {

			@Override
			public <T> T during(Step<T> step) throws SQLException, IOException {
				return step.run();
			}

		};

		/** Runs a step that may wait. */
		<T> T during(Step<T> step) throws SQLException, IOException;

	}

	/** A step that may wait for the source. */
	interface Step<T> {

		T run() throws SQLException, IOException;

	}

}
