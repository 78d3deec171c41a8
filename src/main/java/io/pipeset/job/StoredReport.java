package io.pipeset.job;

import java.io.ByteArrayInputStream;
import java.io.InputStream;

import io.pipeset.report.JobReport;
import io.pipeset.spool.Spool;
import io.pipeset.spool.SpoolFile;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * A report that is too large for memory, as JSON on disk until its job is forgotten, or
 * others need its room.
 */
public final class StoredReport implements Spool.Kept {

	private final Spool spool;

	private final SpoolFile file;

	private final @Nullable JobReport withoutLists;

	private final JsonMapper mapper;

	private volatile boolean removed;

	/**
	 * A report that is on disk.
	 * @param withoutLists the same without what makes it large; {@code null} if it has no
	 * lists
	 * @param mapper writes that one
	 */
	StoredReport(Spool spool, SpoolFile file, @Nullable JobReport withoutLists, JsonMapper mapper) {
		this.spool = spool;
		this.file = file;
		this.withoutLists = withoutLists;
		this.mapper = mapper;
	}

	/**
	 * The same without items and values.
	 * @return {@code null} if it has none
	 */
	@Nullable JobReport withoutLists() {
		return this.withoutLists;
	}

	/**
	 * Opens the report. One that was removed has no lists.
	 * @return a JSON object, in UTF-8
	 */
	public InputStream open() {
		return (this.removed && this.withoutLists != null)
				? new ByteArrayInputStream(this.mapper.writeValueAsBytes(this.withoutLists)) : this.file.open();
	}

	/** Removes the report. */
	@Override
	public void close() {
		this.removed = true;
		this.spool.isRemoved(this);
		this.file.close();
	}

}
