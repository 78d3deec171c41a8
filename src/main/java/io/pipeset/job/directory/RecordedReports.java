package io.pipeset.job.directory;

import java.io.IOException;
import java.io.InputStream;

import io.pipeset.job.control.ReportBytes;
import io.pipeset.job.control.ReportBytes.ReportWriter;
import io.pipeset.report.JobReport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.stereotype.Component;

/** Makes of the report of a job the bytes that are recorded. */
@Component
class RecordedReports {

	private static final Logger logger = LoggerFactory.getLogger(RecordedReports.class);

	private final JsonMapper mapper;

	RecordedReports(JsonMapper mapper) {
		this.mapper = mapper;
	}

	/**
	 * Compresses a report, without its items and values if it is too large with them.
	 * @param report as {@link KnownJob#look()} has it; {@code null} if there is none
	 * @return {@code null} if there is nothing to be recorded
	 */
	byte @Nullable [] compress(@Nullable Object report) {
		try {
			if (report instanceof StoredReport stored) {
				byte[] shorter = stored.withoutLists();
				return ReportBytes.compress((out) -> {
					try (InputStream file = stored.open()) {
						file.transferTo(out);
					}
				}, (shorter != null) ? (out) -> out.write(shorter) : null);
			}
			if (report instanceof JobReport records) {
				return ReportBytes.compress(json(records), json(records.withoutLists()));
			}
			return (report != null) ? ReportBytes.compress(json(report), null) : null;
		}
		catch (IOException ex) {
			logger.warn("A report could not be read, and is not recorded: {}", ex.getMessage());
			return null;
		}
	}

	private ReportWriter json(Object report) {
		return (out) -> this.mapper.writeValue(out, report);
	}

}
