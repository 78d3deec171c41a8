package io.pipeset.job.directory;

import java.io.ByteArrayInputStream;
import java.io.InputStream;

import io.pipeset.job.spool.Spool;
import io.pipeset.job.spool.SpoolFile;
import org.jspecify.annotations.Nullable;

/**
 * The report of a job that has ended, as JSON on disk until the job is forgotten, or
 * others need its room.
 */
public final class StoredReport implements Spool.Kept {

	private final Spool spool;

	private final SpoolFile file;

	private final byte @Nullable [] withoutLists;

	private volatile boolean removed;

	/**
	 * A report that is on disk.
	 * @param withoutLists the same JSON without what makes it large; {@code null} if it
	 * has no lists
	 */
	StoredReport(Spool spool, SpoolFile file, byte @Nullable [] withoutLists) {
		this.spool = spool;
		this.file = file;
		this.withoutLists = withoutLists;
	}

	/**
	 * The same without items and values.
	 * @return a JSON object, in UTF-8; {@code null} if it has none
	 */
	byte @Nullable [] withoutLists() {
		return this.withoutLists;
	}

	/**
	 * Opens the report. One that was removed has no lists.
	 * @return a JSON object, in UTF-8
	 */
	public InputStream open() {
		return (this.removed && this.withoutLists != null) ? new ByteArrayInputStream(this.withoutLists)
				: this.file.open();
	}

	/** Removes the report. */
	@Override
	public void close() {
		this.removed = true;
		this.spool.isRemoved(this);
		this.file.close();
	}

}
