package io.pipeset.job;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;

import io.pipeset.report.JobReport;
import io.pipeset.spool.Spool;
import io.pipeset.spool.SpoolFile;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.stereotype.Component;

/**
 * Keeps the large reports of asynchronous jobs on disk: nobody else has them. Those of
 * records are removed where others need their room, but for the values that a job took
 * out of Redis, which are in no other place.
 */
@Component
class ReportFiles {

	private static final Logger logger = LoggerFactory.getLogger(ReportFiles.class);

	private static final int BUFFER_BYTES = 64 << 10;

	private final Spool spool;

	private final JsonMapper mapper;

	ReportFiles(Spool spool, JsonMapper mapper) {
		this.spool = spool;
		this.mapper = mapper;
	}

	/**
	 * Writes a report.
	 * @return {@code null} if the spool is full, or its disk fails
	 */
	@Nullable StoredReport write(String jobId, Object report) {
		SpoolFile file = null;
		try {
			file = this.spool.create(jobId + ".report", 0);
			try (OutputStream out = new BufferedOutputStream(file.write(), BUFFER_BYTES)) {
				this.mapper.writeValue(out, report);
			}
			JobReport records = (report instanceof JobReport known) ? known : null;
			StoredReport stored = new StoredReport(this.spool, file, (records != null) ? records.withoutLists() : null,
					this.mapper);
			file = null;
			if (records != null && (records.values() == null || records.values().isEmpty())) {
				this.spool.mayRemove(stored);
			}
			return stored;
		}
		catch (IOException | JacksonException ex) {
			logger.atWarn()
				.addKeyValue("jobId", jobId)
				.log("The report of job {} is kept without its items and values: {}", jobId, ex.getMessage());
			return null;
		}
		finally {
			if (file != null) {
				file.close();
			}
		}
	}

}
