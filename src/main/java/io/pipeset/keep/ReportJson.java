package io.pipeset.keep;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.pipeset.keep.control.StoredReport;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
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

	void write(Object report, OutputStream out) {
		this.writer.writeValue(out, report);
	}

	/** The JSON of a report without large lists. */
	String text(Object report) {
		// Via bytes, because popped values are raw UTF-8.
		return new String(this.writer.writeValueAsBytes(report), StandardCharsets.UTF_8);
	}

	/**
	 * The stored form of a report.
	 * @param report a {@link StoredReport}, or a report without large lists
	 */
	StoredReport stored(Object report) {
		if (report instanceof StoredReport stored) {
			return stored;
		}
		return new StoredReport(warnings(report), opens(text(report)), null);
	}

	static Supplier<InputStream> opens(String text) {
		byte[] json = text.getBytes(StandardCharsets.UTF_8);
		return () -> new ByteArrayInputStream(json);
	}

	static List<Warning> warnings(Object report) {
		return (report instanceof JobReport records) ? records.warnings() : List.of();
	}

}
