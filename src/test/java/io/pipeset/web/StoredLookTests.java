package io.pipeset.web;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;

import com.sun.management.ThreadMXBean;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.JobStatus.EndReason;
import io.pipeset.report.Progress;
import io.pipeset.web.JobLooks.StoredLook;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A stored report is copied as it is, but for what has changed, a piece at a time. */
class StoredLookTests {

	private static final String REPORT = "{ \"jobId\":\"a\", \"state\" : \"running\",\"counts\":{\"received\":1,\"x\":[]},"
			+ "\"warnings\":[{\"code\":\"OLD\",\"detail\":\"}],{\"}],\"items\":[{\"reply\":\"%s\"},[[{}]]],\"n\":-1.5e3}\n";

	private static final JobStatus STATUS = new JobStatus("a", JobKind.RECORDS, "SET", null, JobState.INTERRUPTED, 1,
			null, null, new Progress(0, 0, null, null, 0, 0, 0, null), new EndReason("interrupted", "gone"));

	private final JsonMapper mapper = JsonMapper.builder()
		.addModule(new SimpleModule().addSerializer(StoredLook.class, new StoredLookSerializer()))
		.build();

	/** Longer than a piece, so that each letter stands once behind the end of one. */
	@ParameterizedTest
	@ValueSource(
			ints = { 0, 1, 8100, 8101, 8102, 8103, 8104, 8105, 8106, 8107, 8108, 8109, 8110, 8111, 8112, 8113, 20_000 })
	void allMembersStayAndSomeAreRenewed(int length) {
		String text = "x".repeat(length) + "\\\"}],\\\\\\ud83d\u00e9\ud83d\ude00";
		JsonNode look = this.mapper.readTree(this.mapper.writeValueAsBytes(look(stream(REPORT.formatted(text)))));
		JsonNode report = this.mapper.readTree(REPORT.formatted(text));
		assertThat(look.get("items")).isEqualTo(report.get("items"));
		assertThat(look.get("counts")).isEqualTo(report.get("counts"));
		assertThat(look.get("n")).isEqualTo(report.get("n"));
		assertThat(look.get("state").asString()).isEqualTo("interrupted");
		assertThat(look.get("warnings")).hasSize(2);
		assertThat(look.at("/warnings/1")).isEqualTo(report.at("/warnings/0"));
		assertThat(look.at("/warnings/0/code").asString()).isEqualTo("NOT_RECORDED");
		assertThat(look.at("/ending/type").asString()).isEqualTo("interrupted");
		assertThat(look.get("instance").asString()).isEqualTo("other");
	}

	/** A hundred callers may read such a report slowly. */
	@Test
	void aLargeStringIsNeverHeldAsAWhole() {
		byte[] piece = "x".repeat(1 << 20).getBytes(StandardCharsets.UTF_8);
		InputStream large = stream("");
		for (int i = 0; i < 20; i++) {
			large = new SequenceInputStream(large, new ByteArrayInputStream(piece));
		}
		InputStream report = new SequenceInputStream(stream("{\"items\":[\""),
				new SequenceInputStream(large, stream("\"]}")));
		ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		this.mapper.writeValue(OutputStream.nullOutputStream(), look(stream("{}")));
		long before = threads.getCurrentThreadAllocatedBytes();
		this.mapper.writeValue(OutputStream.nullOutputStream(), look(report));
		assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1 << 20);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "{\"a", "{\"a\":", "{\"a\":[\"", "{\"a\":1" })
	void aReportThatIsCutOffIsAFailure(String report) {
		assertThatExceptionOfType(UncheckedIOException.class)
			.isThrownBy(() -> this.mapper.writeValue(OutputStream.nullOutputStream(), look(stream(report))))
			.withCauseInstanceOf(IOException.class);
	}

	private static StoredLook look(InputStream report) {
		return new StoredLook(() -> report, STATUS, "other", List.of(new Warning("NOT_RECORDED", null, "", null)));
	}

	private static InputStream stream(String text) {
		return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
	}

}
