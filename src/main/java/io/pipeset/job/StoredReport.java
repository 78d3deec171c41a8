package io.pipeset.job;

import java.io.InputStream;

import io.pipeset.report.JobReport;
import io.pipeset.spool.Spool;
import io.pipeset.spool.SpoolFile;
import org.jspecify.annotations.Nullable;

/**
 * A report that is too large for memory, as JSON on disk until its job is forgotten, or
 * others need its room.
 */
public final class StoredReport implements Spool.Kept {

	private final Spool spool;

	private final SpoolFile file;

	private final @Nullable JobReport withoutLists;

	private volatile boolean removed;

	/**
	 * A report that is on disk.
	 * @param withoutLists the same without what makes it large; {@code null} if it has no
	 * lists
	 */
	StoredReport(Spool spool, SpoolFile file, @Nullable JobReport withoutLists) {
		this.spool = spool;
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

	boolean isRemoved() {
		return this.removed;
	}

	/** Removes the report. */
	@Override
	public void close() {
		this.removed = true;
		this.spool.isRemoved(this);
		this.file.close();
	}

}
