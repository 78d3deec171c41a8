package io.pipeset.job.directory;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.function.Supplier;

import io.pipeset.job.control.ReportBytes.ReportWriter;
import io.pipeset.job.control.StoredReport;
import io.pipeset.job.spool.Spool;
import io.pipeset.job.spool.SpoolFile;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.stereotype.Component;

/**
 * Keeps the ends of asynchronous jobs on disk: the report, and then how the job stands.
 * They are there before anything of the job is removed, so that the next process knows
 * the end if this one is killed before others have heard of it.
 */
@Component
class JobEnds {

	static final String REPORT = ".report";

	private static final Logger logger = LoggerFactory.getLogger(JobEnds.class);

	private static final int BUFFER_BYTES = 64 << 10;

	private final Spool spool;

	private final JsonMapper mapper;

	private final ReportJson reports;

	JobEnds(Spool spool, JsonMapper mapper, ReportJson reports) {
		this.spool = spool;
		this.mapper = mapper;
		this.reports = reports;
	}

	/**
	 * Writes the end of a job.
	 * @param report the last report; {@code null} if there is none
	 * @param large whether the whole report has a file of its own
	 * @return {@code null} if the spool is full, or its disk fails
	 */
	@Nullable JobEnd write(String client, JobStatus status, @Nullable Object report, boolean large) {
		SpoolFile whole = null;
		try {
			whole = (large && report != null) ? write(status.jobId() + REPORT, (out) -> this.reports.write(report, out))
					: null;
			Object rest = (!large) ? report : (report instanceof JobReport records) ? records.withoutLists() : null;
			Note note = new Note(client, status, (report != null) ? ReportJson.warnings(report) : null,
					report instanceof JobReport records && (records.values() == null || records.values().isEmpty()),
					(rest != null) ? this.reports.text(rest) : null);
			JobEnd end = end(note, write(status.jobId() + Spool.OF_END, (out) -> this.mapper.writeValue(out, note)),
					whole);
			whole = null;
			return end;
		}
		catch (IOException | JacksonException ex) {
			logger.atWarn()
				.addKeyValue("jobId", status.jobId())
				.log("The end of job {} is not kept on disk, and its report without its items and values: {}",
						status.jobId(), ex.getMessage());
			return null;
		}
		finally {
			if (whole != null) {
				whole.close();
			}
		}
	}

	private SpoolFile write(String name, ReportWriter content) throws IOException {
		SpoolFile file = this.spool.create(name, null);
		boolean written = false;
		try (OutputStream out = new BufferedOutputStream(file.write(), BUFFER_BYTES)) {
			content.writeTo(out);
			out.flush();
			written = true;
			return file;
		}
		finally {
			if (!written) {
				file.close();
			}
		}
	}

	/**
	 * Reads the end of a job that another process has written.
	 * @param file the file that says so
	 * @param whole the file of the whole report; {@code null} if there is none
	 * @throws IOException if a file cannot be read, or is not whole
	 */
	JobEnd read(SpoolFile file, @Nullable SpoolFile whole) throws IOException {
		try (InputStream in = file.open()) {
			return end(this.mapper.readValue(in, Note.class), file, whole);
		}
		catch (JacksonException ex) {
			throw new IOException("its end is not whole", ex);
		}
	}

	private JobEnd end(Note note, SpoolFile file, @Nullable SpoolFile whole) {
		String text = note.report;
		Supplier<InputStream> rest = (text != null) ? ReportJson.opens(text) : null;
		StoredReport report = null;
		if (note.warnings != null && whole != null) {
			report = new StoredReport(note.warnings,
					() -> (rest != null && whole.isRemoved()) ? rest.get() : whole.open(), rest);
		}
		else if (note.warnings != null && rest != null) {
			report = new StoredReport(note.warnings, rest, null);
		}
		if (whole != null && Boolean.TRUE.equals(note.removable)) {
			this.spool.mayRemove(whole);
		}
		return new JobEnd(note.client, note.status, report, file, whole);
	}

	/**
	 * The end of a job as it is written.
	 *
	 * @param warnings those of the report; {@code null} if there is none, and in files of
	 * earlier versions
	 * @param removable whether the file of the whole report may make room for others
	 * @param report the JSON of the report, without the lists that have a file of their
	 * own; {@code null} if all of it is there
	 */
	private record Note(String client, JobStatus status, @Nullable List<Warning> warnings, @Nullable Boolean removable,
			@Nullable String report) {

	}

	/**
	 * The end of a job on disk.
	 *
	 * @param report {@code null} if there is none
	 * @param file has all of it but large lists; removed last
	 * @param whole the file of the whole report; {@code null} if that is not large
	 */
	record JobEnd(String client, JobStatus status, @Nullable StoredReport report, SpoolFile file,
			@Nullable SpoolFile whole) {

		/** Removes it. */
		void close() {
			if (this.whole != null) {
				this.whole.close();
			}
			this.file.close();
		}

	}

}
