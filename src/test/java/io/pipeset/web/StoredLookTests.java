package io.pipeset.web;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;

import com.sun.management.ThreadMXBean;
import io.pipeset.keep.control.StoredReport;
import io.pipeset.report.Counts;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.report.Progress;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.io.InputStreamSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The bytes of a stored report are copied unchanged, in parts. */
class StoredLookTests {

	private final JsonMapper mapper = new JsonMapper();

	@Test
	void theMembersOfTheReportFollowTheChangedMembers() throws IOException {
		String members = "\"jobId\":\"a\",\"items\":[{\"reply\":\"\\\"}],\u00e9\ud83d\ude00\"},[[{}]]],\"n\":-1.5e3}";
		String look = text(look(JobKind.RECORDS, '{' + members));
		assertThat(look).startsWith("{\"state\":\"interrupted\",\"errors\":true,\"counts\":{\"received\":3")
			.endsWith("},\"instance\":\"other\"," + members);
		JsonNode json = this.mapper.readTree(look);
		assertThat(json.at("/warnings/0/code").asString()).isEqualTo("OLD");
		assertThat(json.at("/warnings/1/code").asString()).isEqualTo("NOT_RECORDED");
		assertThat(json.at("/ending/type").asString()).isEqualTo("interrupted");
		assertThat(json.at("/progress/done").asInt()).isEqualTo(2);
	}

	/** The report may have said otherwise while the job ran. */
	@Test
	void aJobThatWasInterruptedHasErrorsThoughAllRecordsRan() throws IOException {
		Counts counts = new Counts(3, 3, 0, 0, 0, 0);
		assertThat(this.mapper.readTree(text(look(status(JobKind.RECORDS, counts), stream("{\"n\":1}")))).get("errors"))
			.hasToString("true");
	}

	@ParameterizedTest
	@ValueSource(strings = { "ANALYSIS", "TUNING" })
	void otherReportsHaveTheirOwnState(JobKind kind) throws IOException {
		String look = text(look(kind, "{\"analysisId\":\"a\",\"state\":\"completed\"}"));
		assertThat(look.split("\"state\"", -1)).hasSize(2);
		assertThat(this.mapper.readTree(look).get("state").asString()).isEqualTo("completed");
	}

	/** A hundred callers may read such a report slowly. */
	@Test
	void aLargeStringIsNeverHeldInMemory() throws IOException {
		byte[] piece = "x".repeat(1 << 20).getBytes(StandardCharsets.UTF_8);
		InputStream large = stream("{\"items\":[\"");
		for (int i = 0; i < 20; i++) {
			large = new SequenceInputStream(large, new ByteArrayInputStream(piece));
		}
		InputStream report = new SequenceInputStream(large, stream("\"]}"));
		copy(look(JobKind.RECORDS, "{\"n\":1}"), OutputStream.nullOutputStream());
		ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		long before = threads.getCurrentThreadAllocatedBytes();
		copy(look(JobKind.RECORDS, report), OutputStream.nullOutputStream());
		assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10 << 20);
	}

	@Test
	void aReportThatIsEmptyIsAFailure() {
		assertThatExceptionOfType(EOFException.class).isThrownBy(() -> text(look(JobKind.RECORDS, "")));
	}

	private InputStreamSource look(JobKind kind, String report) {
		return look(kind, stream(report));
	}

	private InputStreamSource look(JobKind kind, InputStream report) {
		return look(status(kind, (kind == JobKind.RECORDS) ? new Counts(3, 2, 0, 0, 1, 0) : null), report);
	}

	private static JobStatus status(JobKind kind, @Nullable Counts counts) {
		return new JobStatus("a", kind, "SET", null, null, JobState.INTERRUPTED, 1, null, counts,
				new Progress(3, 2, null, null, 0, 0, 0, null), new EndReason("interrupted", "gone"));
	}

	private InputStreamSource look(JobStatus status, InputStream report) {
		return new StoredReport(List.of(warning("OLD")), () -> report, null).joined(status,
				List.of(warning("NOT_RECORDED")), "other", null, this.mapper);
	}

	private static InputStream stream(String text) {
		return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
	}

	private static String text(InputStreamSource look) throws IOException {
		ByteArrayOutputStream text = new ByteArrayOutputStream();
		copy(look, text);
		return text.toString(StandardCharsets.UTF_8);
	}

	private static void copy(InputStreamSource look, OutputStream out) throws IOException {
		try (InputStream in = look.getInputStream()) {
			in.transferTo(out);
		}
	}

	private static Warning warning(String code) {
		return new Warning(code, null, "", null);
	}

}
