package io.pipeset.keep;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.List;
import java.util.function.Supplier;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.pipeset.keep.control.StoredReport;
import io.pipeset.report.JobReport;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.stereotype.Component;

/**
 * Writes the JSON of {@link StoredReport}s, without the members that may change later.
 */
@Component
class ReportJson {

	private final ObjectWriter writer;

	ReportJson(JsonMapper mapper) {
		this.writer = mapper.rebuild()
			.withConfigOverride(JobReport.class,
					(report) -> report.setIgnorals(
							JsonIgnoreProperties.Value.forIgnoredProperties("state", "errors", "counts", "warnings")))
			.build()
			.writer();
	}

	/** The stored form of a report. */
	StoredReport stored(Object report) {
		JobReport records = (report instanceof JobReport job) ? job : null;
		return new StoredReport((records != null) ? records.warnings() : List.of(), json(report),
				(records != null) ? json(records.withoutLists()) : null);
	}

	private Supplier<InputStream> json(Object report) {
		return () -> new ByteArrayInputStream(this.writer.writeValueAsBytes(report));
	}

}
