package io.pipeset.keep;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pipeset.keep.JobEnds.JobEnd;
import io.pipeset.keep.control.StoredReport;
import io.pipeset.report.Counts;
import io.pipeset.report.Item;
import io.pipeset.report.JobClock;
import io.pipeset.report.JobKind;
import io.pipeset.report.JobReport;
import io.pipeset.report.JobReport.Input;
import io.pipeset.report.JobReport.Sent;
import io.pipeset.report.JobReport.Warning;
import io.pipeset.report.JobState;
import io.pipeset.report.JobStatus;
import io.pipeset.report.Losses;
import io.pipeset.report.Outcome;
import io.pipeset.report.Progress;
import io.pipeset.report.RedisIdentity;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/** A report is written once, and the service never parses it again. */
class JobEndsTests {

	private static final RedisIdentity REDIS = new RedisIdentity("localhost:6379/0");

	private static final Counts COUNTS = new Counts(50, 0, 0, 50, 0, 0);

	private static final JobStatus STATUS = new JobStatus("a", JobKind.RECORDS, "SET", null, null, JobState.COMPLETED,
			1, 2L, COUNTS, new Progress(50, 50, null, null, 0, 0, 0, null), null);

	private final JsonMapper mapper = new JsonMapper();

	private final ReportJson reports = new ReportJson(this.mapper);

	@TempDir
	private Path temporary;

	private Spool spool;

	private JobEnds ends;

	@BeforeEach
	void begin() {
		this.spool = new Spool(this.temporary, REDIS, 10_000, new SimpleMeterRegistry());
		this.ends = new JobEnds(this.spool, this.mapper, this.reports);
	}

	@AfterEach
	void end() {
		this.spool.end();
	}

	@Test
	void theStoredReportLacksTheMembersThatMayChange() throws IOException {
		for (boolean large : new boolean[] { false, true }) {
			JobEnd end = written(report(null), large);
			JsonNode whole = this.mapper.readTree(text(stored(end)));
			assertThat(whole.propertyNames()).startsWith("jobId")
				.doesNotContain("state", "errors", "counts", "warnings");
			assertThat(whole.get("items")).hasSize(50);
			assertThat(stored(end).warnings()).extracting(Warning::code).containsExactly("EVICTED");
			end.close();
			assertThat(this.spool.used()).isZero();
		}
	}

	@Test
	void aSmallReportIsInTheEndFileAndIsReadableAfterItsRemoval() throws IOException {
		JobEnd end = written(report(null), false);
		assertThat(end.reportFile()).isNull();
		assertThat(stored(end).shorter()).isNull();
		String text = text(stored(end));
		assertThat(text(stored(this.ends.read(end.file(), null)))).isEqualTo(text);
		end.close();
		assertThat(text(stored(end))).isEqualTo(text);
	}

	@Test
	void theListsOfALargeReportAreRemovedIfTheSpoolNeedsSpace() throws IOException {
		JobEnd written = written(report(null), true);
		SpoolFile whole = written.reportFile();
		assertThat(whole).isNotNull();
		JobEnd end = this.ends.read(written.file(), whole);
		assertThat(this.mapper.readTree(text(stored(end))).get("items")).hasSize(50);
		try (OutputStream out = this.spool.create("other", null).write()) {
			out.write(new byte[9000]);
		}
		JsonNode left = this.mapper.readTree(text(stored(end)));
		assertThat(left.get("items")).isEmpty();
		assertThat(left.get("itemsOmitted").asInt()).isEqualTo(50);
		assertThat(whole.isRemoved()).isTrue();
		assertThat(this.mapper.readTree(text(stored(this.ends.read(written.file(), null))))).isEqualTo(left);
	}

	@Test
	void poppedValuesAreNotRemovedIfTheSpoolNeedsSpace() throws IOException {
		JobEnd end = written(report(List.of("popped")), true);
		assertThatIOException().isThrownBy(() -> {
			try (OutputStream out = this.spool.create("other", null).write()) {
				out.write(new byte[9000]);
			}
		});
		assertThat(text(stored(end))).contains("\"values\":[\"popped\"]");
	}

	/** Because the report may be as large as the spool. */
	@Test
	void theNextProcessDoesNotReadALargeReport() throws IOException {
		JobEnd end = written(report(null), true);
		SpoolFile broken = file("a.report", "no JSON");
		assertThat(text(stored(this.ends.read(end.file(), broken)))).isEqualTo("no JSON");
	}

	@Test
	void aReportOfAnotherKindHasNoShorterForm() throws IOException {
		JobEnd end = written(Map.of("state", "completed"), true);
		assertThat(stored(end).shorter()).isNull();
		assertThat(text(stored(this.ends.read(end.file(), end.reportFile())))).isEqualTo("{\"state\":\"completed\"}");
		assertThat(this.ends.read(end.file(), null).report()).isNull();
	}

	@Test
	void anEndOfAnEarlierVersionHasNoReport() throws IOException {
		String status = this.mapper.writeValueAsString(STATUS);
		SpoolFile file = file("a.end", "{\"client\":\"none\",\"status\":" + status + "}");
		JobEnd end = this.ends.read(file, file("a.report", "{\"state\":\"completed\"}"));
		assertThat(end.status()).isEqualTo(STATUS);
		assertThat(end.report()).isNull();
		end.close();
		assertThat(this.spool.used()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "{\"client\":\"none\",\"status\":{\"jobId\":\"a\"", "[]" })
	void anIncompleteEndIsRefused(String text) throws IOException {
		SpoolFile file = file("a.end", text);
		assertThatIOException().isThrownBy(() -> this.ends.read(file, null));
	}

	private JobEnd written(Object report, boolean large) {
		JobEnd end = this.ends.write("none", STATUS, report, large, null);
		assertThat(end).isNotNull();
		return end;
	}

	private SpoolFile file(String name, String text) throws IOException {
		SpoolFile file = this.spool.create(name, null);
		try (OutputStream out = file.write()) {
			out.write(text.getBytes(StandardCharsets.UTF_8));
		}
		return file;
	}

	private static StoredReport stored(JobEnd end) {
		assertThat(end.report()).isNotNull();
		return end.report();
	}

	private static String text(StoredReport report) throws IOException {
		try (InputStream json = report.json().get()) {
			return new String(json.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	private static JobReport report(@Nullable List<Object> values) {
		List<Item> items = IntStream.range(0, 50)
			.mapToObj((i) -> new Item(i, null, null, "SET", "k" + i, Outcome.REJECTED, null, null, null, null, null))
			.toList();
		return new JobReport("a", JobState.COMPLETED, COUNTS, null, null, new Input(true, null, null),
				new Losses.Found(null, null, null), new JobClock().timings(), null, new Sent(0, 0, 0, 0), "redis",
				Map.of(), null, null, values, null, List.of(new Warning("EVICTED", null, "", 1L)), Map.of(), items, 0,
				false);
	}

}
