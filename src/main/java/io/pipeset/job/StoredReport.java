package io.pipeset.job;

import java.io.InputStream;

import io.pipeset.report.JobReport;
import io.pipeset.spool.SpoolFile;
import org.jspecify.annotations.Nullable;

/** A report that is too large for memory, as JSON on disk until its job is forgotten. */
public final class StoredReport implements AutoCloseable {

	private final SpoolFile file;

	private final @Nullable JobReport withoutLists;

	/**
	 * A report that is on disk.
	 * @param withoutLists the same without what makes it large; {@code null} if it has no
	 * lists
	 */
	StoredReport(SpoolFile file, @Nullable JobReport withoutLists) {
		this.file = file;
		this.withoutLists = withoutLists;
	}

	/**
	 * The same without items and values.
	 * @return {@code null} if it has none
	 */
	@Nullable JobReport withoutLists() {
		return this.withoutLists;
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
