package io.pipeset.job.control;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.function.Supplier;

import io.pipeset.job.control.ReportBytes.ReportWriter;
import io.pipeset.report.JobReport.Warning;
import org.jspecify.annotations.Nullable;

/**
 * The part of a report that never changes once it is written, as JSON. The members that
 * may change later are not in it: {@code state}, {@code errors}, {@code counts} and
 * {@code warnings} of a job of records.
 *
 * @param warnings the warnings of the report
 * @param json opens the JSON: an object with at least one member, in UTF-8
 * @param shorter opens the JSON without items and values; {@code null} if there is no
 * such form
 */
public record StoredReport(List<Warning> warnings, Supplier<InputStream> json,
		@Nullable Supplier<InputStream> shorter) {

	/**
	 * Compresses the report for the control Redis. If it is too large, items and values
	 * are left out.
	 * @return {@code null} if it is still too large
	 * @throws IOException if the JSON cannot be read
	 */
	byte @Nullable [] compress() throws IOException {
		return ReportBytes.compress(writer(this.json), (this.shorter != null) ? writer(this.shorter) : null);
	}

	private static ReportWriter writer(Supplier<InputStream> json) {
		return (out) -> {
			try (InputStream in = json.get()) {
				in.transferTo(out);
			}
		};
	}

}
