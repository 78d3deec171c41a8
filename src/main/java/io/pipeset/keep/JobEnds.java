package io.pipeset.keep;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.function.Supplier;

import io.pipeset.keep.control.ReportBytes.ReportWriter;
import io.pipeset.keep.control.StoredReport;
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
 * Stores the ends of asynchronous jobs on disk: first a large report, then the final
 * status. They are written before the job's files are removed. So the next process knows
 * the end even if this one is killed before the control Redis has it.
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
	 * @param client the name of the client that owns the job
	 * @param report the final report; {@code null} if there is none
	 * @param large whether to write the full report to a separate file
	 * @param callback the URL that gets the report; {@code null} for none
	 * @return {@code null} if the spool is full, or its disk fails
	 */
	@Nullable JobEnd write(String client, JobStatus status, @Nullable Object report, boolean large, @Nullable String callback) {
		SpoolFile reportFile = null;
		try {
			reportFile = (large && report != null)
					? write(status.jobId() + REPORT, (out) -> this.reports.write(report, out)) : null;
			Object rest = (!large) ? report : (report instanceof JobReport records) ? records.withoutLists() : null;
			EndFile content = new EndFile(client, status, (report != null) ? ReportJson.warnings(report) : null,
					report instanceof JobReport records && (records.values() == null || records.values().isEmpty()),
					(rest != null) ? this.reports.text(rest) : null, callback);
			JobEnd end = end(content,
					write(status.jobId() + Spool.OF_END, (out) -> this.mapper.writeValue(out, content)), reportFile);
			reportFile = null;
			return end;
		}
		catch (IOException | JacksonException ex) {
			logger.atWarn()
				.addKeyValue("jobId", status.jobId())
				.log("The end of job {} could not be written to disk. A large report is kept only without items and values: {}",
						status.jobId(), ex.getMessage());
			return null;
		}
		finally {
			if (reportFile != null) {
				reportFile.close();
			}
		}
	}

	private SpoolFile write(String name, ReportWriter writer) throws IOException {
		SpoolFile file = this.spool.create(name, null);
		boolean written = false;
		try (OutputStream out = new BufferedOutputStream(file.write(), BUFFER_BYTES)) {
			writer.writeTo(out);
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
	 * Reads the end of a job of an earlier process.
	 * @param file the file of the end
	 * @param reportFile the file of the full report; {@code null} if there is none
	 * @throws IOException if a file cannot be read, or is incomplete
	 */
	JobEnd read(SpoolFile file, @Nullable SpoolFile reportFile) throws IOException {
		try (InputStream in = file.open()) {
			return end(this.mapper.readValue(in, EndFile.class), file, reportFile);
		}
		catch (JacksonException ex) {
			throw new IOException("its end is incomplete", ex);
		}
	}

	private JobEnd end(EndFile content, SpoolFile file, @Nullable SpoolFile reportFile) {
		String text = content.report;
		Supplier<InputStream> rest = (text != null) ? ReportJson.opens(text) : null;
		StoredReport report = null;
		if (content.warnings != null && reportFile != null) {
			report = new StoredReport(content.warnings,
					() -> (rest != null && reportFile.isRemoved()) ? rest.get() : reportFile.open(), rest);
		}
		else if (content.warnings != null && rest != null) {
			report = new StoredReport(content.warnings, rest, null);
		}
		if (reportFile != null && Boolean.TRUE.equals(content.removable)) {
			this.spool.allowRemoval(reportFile);
		}
		return new JobEnd(content.client, content.status, report, file, reportFile, content.callback);
	}

	/**
	 * The end of a job, as stored in JSON.
	 *
	 * @param warnings the warnings of the report; {@code null} if there is no report, and
	 * in files of earlier versions
	 * @param removable whether the file of the full report may be removed when the spool
	 * needs space
	 * @param report the JSON of the report, without lists if a separate file has the full
	 * report; {@code null} if only that file has it
	 * @param callback the URL that gets the report; {@code null} for none
	 */
	private record EndFile(String client, JobStatus status, @Nullable List<Warning> warnings,
			@Nullable Boolean removable, @Nullable String report, @Nullable String callback) {

	}

	/**
	 * The end of a job on disk.
	 *
	 * @param report the final report; {@code null} if there is none
	 * @param file the file of the end, which is removed last
	 * @param reportFile the file of the full report; {@code null} if the report is not
	 * large
	 * @param callback the URL that gets the report; {@code null} for none
	 */
	record JobEnd(String client, JobStatus status, @Nullable StoredReport report, SpoolFile file,
			@Nullable SpoolFile reportFile, @Nullable String callback) {

		/** Removes the files. */
		void close() {
			if (this.reportFile != null) {
				this.reportFile.close();
			}
			this.file.close();
		}

	}

}
