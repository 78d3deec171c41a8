package io.pipeset.keyspace.tuning;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.pipeset.engine.pipeline.flush.FlushPolicy;
import io.pipeset.keyspace.tuning.Candidate.Run;
import io.pipeset.keyspace.tuning.TuningReport.Row;
import io.pipeset.record.Operation;
import io.pipeset.request.Atomic;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Recommends the row with the smallest batches and fewest lanes among the rows that are
 * about as fast as the fastest.
 */
class RecommendationTests {

	/** Default settings that are not a row of the grid. */
	private static final RowSettings OTHER_DEFAULTS = new RowSettings(77, FlushPolicy.each(), 7);

	@Test
	void smallBatchesAreRecommendedIfLargeOnesAreHardlyFaster() {
		Recommendation near = recommendation(
				List.of(row(1_000, 1, 0.104, 0.103, 0.106), row(10_000, 1, 0.103, 0.101, 0.110),
						row(100_000, 1, 0.100, 0.099, 0.101), row(100_000, 2, 0.150, 0.140, 0.160)),
				OTHER_DEFAULTS);
		assertThat(near.choice()).isEqualTo(choice(1_000, 1));
		assertThat(near.because()).startsWith("within 5 % of the fastest row, with the smallest batches and then the"
				+ " fewest lanes: 0.104 s against 0.100 s with batchSize=100000, flush=buffered:1000, concurrency=1");
	}

	@Test
	void largeBatchesAreRecommendedIfRoundTripsAreSlow() {
		Recommendation far = recommendation(List.of(row(1_000, 1, 1.05, 1.04, 1.06), row(1_000, 4, 0.35, 0.3, 0.4),
				row(100_000, 1, 0.210, 0.209, 0.215), row(100_000, 4, 0.200, 0.199, 0.205)), OTHER_DEFAULTS);
		assertThat(far.choice()).isEqualTo(choice(100_000, 1));
		assertThat(far.because()).contains("0.210 s against 0.200 s", "concurrency=4").doesNotContain("overlap");
	}

	@Test
	void aRowMuchFasterThanAllOthersIsRecommended() {
		Recommendation lanes = recommendation(
				List.of(row(1_000, 1, 1.05, 1.04, 1.06), row(100_000, 4, 0.2, 0.19, 0.21)), OTHER_DEFAULTS);
		assertThat(lanes.choice()).isEqualTo(choice(100_000, 4));
		assertThat(lanes.because()).startsWith("the fastest row, with 0.200 s, and no row within 5 % of it");
	}

	@Test
	void betweenEqualBatchesFewerLanesWinAndThenTheTime() {
		Row slower = row(new RowSettings(1_000, FlushPolicy.close(), 1), runs(0.104));
		assertThat(recommendation(List.of(row(1_000, 2, 0.100), slower, row(1_000, 1, 0.102)), OTHER_DEFAULTS).choice())
			.isEqualTo(choice(1_000, 1));
	}

	@Test
	void rowsThatTheRunsDoNotTellApartAreReported() {
		Recommendation noisy = recommendation(List.of(row(1_000, 1, 0.043, 0.091), row(10_000, 1, 0.039, 0.056),
				row(100_000, 1, 0.056, 0.080), row(10, 1, 1.5, 1.6)), OTHER_DEFAULTS);
		assertThat(noisy.choice()).isEqualTo(choice(10_000, 1));
		assertThat(noisy.because()).endsWith("; its times overlap with those of 2 of 3 other rows, and the runs of one"
				+ " row differ by up to 0.048 s, these rows by 0.021 s: the choice between them may be noise, so repeat"
				+ " the tuning with more runs or records");
	}

	@Test
	void rowsThatHardlyDifferAreReportedAlthoughTheirRunsAreAlike() {
		assertThat(recommendation(List.of(row(1_000, 1, 0.100, 0.100, 0.130), row(10_000, 1, 0.130, 0.135, 0.140)),
				OTHER_DEFAULTS)
			.because()).endsWith("hardly matters here");
	}

	@Test
	void theRecommendationIsComparedWithTheDefaults() {
		List<Row> rows = List.of(row(1_000, 1, 0.104, 0.103, 0.106), row(100_000, 1, 0.101, 0.099, 0.102));
		assertThat(recommendation(rows, choice(100_000, 1)).because())
			.endsWith("; the defaults of this service took 0.101 s");
		assertThat(recommendation(rows, choice(1_000, 1)).because())
			.endsWith("; the defaults of this service do the same");
		List<Row> noisy = List.of(row(1_000, 1, 0.104, 0.100, 0.106), row(100_000, 1, 0.101, 0.099, 0.102),
				row(100_000, 2, 0.2, 0.19, 0.21));
		assertThat(recommendation(noisy, choice(100_000, 1)).because())
			.contains("; the defaults of this service took 0.101 s, and the times of both overlap; its times");
	}

	@Test
	void theOnlyRowIsRecommended() {
		Recommendation one = recommendation(List.of(row(1_000, 1, 0.1, 0.09, 0.12)), OTHER_DEFAULTS);
		assertThat(one.choice()).isEqualTo(choice(1_000, 1));
		assertThat(one.because()).startsWith("the fastest row, with 0.100 s").doesNotContain("overlap");
	}

	@Test
	void defaultsThatAreTheSameWithSoManyRecordsAreMentioned() {
		RowSettings larger = new RowSettings(500_000, FlushPolicy.buffered(1_000), 1);
		assertThat(recommendation(List.of(row(100_000, 1, 0.1)), larger).because())
			.endsWith("; the defaults of this service do the same");
	}

	@Test
	void unmeasuredRowsAreMentionedAndNeverRecommended() {
		Row unmeasured = row(1, 1);
		Recommendation some = recommendation(List.of(unmeasured, row(10_000, 1, 0.2), row(100_000, 1, 0.1)),
				OTHER_DEFAULTS);
		assertThat(some.choice()).isEqualTo(choice(100_000, 1));
		assertThat(some.because()).endsWith("; not all runs took place: repeat the tuning with a larger budget");
		assertThat(recommendation(List.of(unmeasured), OTHER_DEFAULTS).choice()).isNull();
	}

	@Test
	void aRowsFiguresAreMediansOfItsRuns() {
		List<Run> runs = List.of(new Run(0.3, 9, 200, null), new Run(0.1, 3, 200, 0.05), new Run(0.2, 4, 201, 0.07));
		Row row = row(choice(1_000, 1), runs);
		assertThat(row.runs()).isEqualTo(3);
		assertThat(row.seconds()).isEqualTo(new TuningReport.Seconds(0.2, 0.1, 0.3));
		assertThat(row.recordsPerSecond()).isEqualTo(500_000);
		assertThat(row.batchP99Millis()).isEqualTo(4);
		assertThat(row.writes()).isEqualTo(200);
		assertThat(row.redisCpuSeconds()).isEqualTo(0.06);
		assertThat(row(1_000, 1, 0.1).redisCpuSeconds()).isNull();
	}

	@Test
	void fewerRunsThanAskedForAreMentioned() {
		List<Row> rows = List.of(row(1_000, 1, 0.1, 0.09, 0.11), row(100_000, 1, 0.2, 0.19));
		assertThat(Recommendation.of(rows, settings(3), OTHER_DEFAULTS).because())
			.endsWith("; not all runs took place: repeat the tuning with a larger budget");
		assertThat(Recommendation.of(rows, settings(2), OTHER_DEFAULTS).because()).doesNotContain("runs");
	}

	private static Recommendation recommendation(List<Row> rows, RowSettings defaults) {
		return Recommendation.of(rows, settings(1), defaults);
	}

	private static TuningSettings settings(int runs) {
		return new TuningSettings(Operation.SET, 100_000, 13, Map.of(), List.of(), runs, Duration.ofSeconds(1));
	}

	private static RowSettings choice(int batchSize, int concurrency) {
		return new RowSettings(batchSize, FlushPolicy.buffered(1_000), concurrency);
	}

	private static Row row(int batchSize, int concurrency, double... seconds) {
		return row(choice(batchSize, concurrency), runs(seconds));
	}

	private static Row row(RowSettings settings, List<Run> runs) {
		return Row.of(new Candidate(null, settings, Atomic.NONE, 100_000, runs), 100_000);
	}

	private static List<Run> runs(double... seconds) {
		return Arrays.stream(seconds).mapToObj((time) -> new Run(time, 1, 1, null)).toList();
	}

}
