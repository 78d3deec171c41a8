package io.pipeset.job;

import java.io.InputStream;

import io.pipeset.spool.SpoolFile;

/** A report that is too large for memory, as JSON on disk until its job is forgotten. */
public final class StoredReport implements AutoCloseable {

	private final SpoolFile file;

	StoredReport(SpoolFile file) {
		this.file = file;
	}

	/**
	 * Opens the report.
	 * @return a JSON object, in UTF-8
	 */
	public InputStream open() {
		return this.file.open();
	}

	/** Removes the report. */
	@Override
	public void close() {
		this.file.close();
	}

}
