package io.pipeset.job.control;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.function.Supplier;

import io.pipeset.job.control.ReportBytes.ReportWriter;
import io.pipeset.report.JobReport.Warning;
import org.jspecify.annotations.Nullable;

/**
 * A report as JSON, which stays as it was written: the members that may change later,
 * {@code state}, {@code errors}, {@code counts} and {@code warnings} of a job of records,
 * are not in it.
 *
 * @param warnings those of the report
 * @param json opens the rest of it: an object with at least one member, in UTF-8
 * @param shorter opens the same without items and values; {@code null} if there is no
 * such form
 */
public record StoredReport(List<Warning> warnings, Supplier<InputStream> json,
		@Nullable Supplier<InputStream> shorter) {

	/**
	 * Compresses the report for the control Redis, without its lists if it is too large
	 * with them.
	 * @return {@code null} if it is too large all the same
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
