package io.pipeset.keep.control;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.pipeset.keep.control.ReportBytes.ReportWriter;
import io.pipeset.report.Counts;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.report.Progress;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.core.io.InputStreamSource;

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

	/** This report without items and values, as {@link JobReport#withoutLists}. */
	StoredReport withoutLists(JsonMapper mapper) {
		if (this.shorter != null) {
			return new StoredReport(this.warnings, this.shorter, null);
		}
		// Without a shorter form, the lists are small.
		return new StoredReport(this.warnings, () -> {
			ObjectNode report = (ObjectNode) mapper.readTree(this.json.get());
			report.remove("values");
			int items = report.path("items").size();
			if (items > 0) {
				report.putArray("items");
				report.put("itemsOmitted", report.path("itemsOmitted").asLong(0) + items);
			}
			return new ByteArrayInputStream(mapper.writeValueAsBytes(report));
		}, null);
	}

	/**
	 * Joins the members that may have changed with the bytes of the report. The bytes are
	 * streamed, and not parsed.
	 * @param more warnings in addition to those of the report
	 * @param instance the instance that has the job; {@code null} for this one
	 * @param callback the state of the job's callback; {@code null} if it has none, or
	 * has not ended
	 */
	public InputStreamSource joined(JobStatus status, List<Warning> more, @Nullable String instance,
			@Nullable CallbackState callback, JsonMapper mapper) {
		return joined(status, more, new Around(status.label(), status.progress(), status.ending(), instance, callback),
				mapper);
	}

	/**
	 * The report as the response to the request of its job.
	 * @param more warnings in addition to those of the report
	 */
	public InputStreamSource answer(JobStatus status, List<Warning> more, JsonMapper mapper) {
		return joined(status, more, null, mapper);
	}

	private InputStreamSource joined(JobStatus status, List<Warning> more, @Nullable Around around, JsonMapper mapper) {
		// Only jobs of records have counts.
		Counts counts = status.counts();
		ChangedMembers changed = new ChangedMembers(
				(counts != null) ? status.state() : null, (counts != null)
						? JobReport.errors(status.state(), counts, status.dryRun() != null, status.verified()) : null,
				counts, Stream.concat(this.warnings.stream(), more.stream()).toList(), around);
		byte[] members = mapper.writeValueAsBytes(changed);
		members[members.length - 1] = ',';
		return () -> {
			InputStream rest = this.json.get();
			rest.skipNBytes(1);
			return new SequenceInputStream(new ByteArrayInputStream(members), rest);
		};
	}

	private static ReportWriter writer(Supplier<InputStream> json) {
		return (out) -> {
			try (InputStream in = json.get()) {
				in.transferTo(out);
			}
		};
	}

	/**
	 * The members of a report that are not in the bytes of a stored one.
	 *
	 * @param state the state of a job of records; {@code null} for other jobs, whose
	 * report has it
	 * @param errors whether a job of records has errors, which may change with the state;
	 * {@code null} for other jobs
	 * @param around the members in addition to those of the report; {@code null} for none
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	private record ChangedMembers(@Nullable JobState state, @Nullable Boolean errors, @Nullable Counts counts,
			List<Warning> warnings, @JsonUnwrapped @Nullable Around around) {

	}

	/**
	 * The members that the view of a job has in addition to its report.
	 *
	 * @param label the caller's name for the job; {@code null} if the caller gave none
	 * @param instance the instance that has the job; {@code null} for this one
	 * @param callback the state of the job's callback; {@code null} if it has none, or
	 * has not ended
	 */
	@JsonInclude(JsonInclude.Include.NON_EMPTY)
	private record Around(@Nullable String label, Progress progress, @Nullable EndReason ending,
			@Nullable String instance, @Nullable CallbackState callback) {

	}

}
