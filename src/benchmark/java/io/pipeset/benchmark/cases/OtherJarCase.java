package io.pipeset.benchmark.cases;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.process.JavaServer;

/** Another build of the service beside this one, to see what a change costs. */
public final class OtherJarCase implements BenchmarkCase {

	private final Path otherJar;

	/**
	 * Names the other build.
	 * @param otherJar its jar
	 */
	public OtherJarCase(Path otherJar) {
		this.otherJar = otherJar;
	}

	@Override
	public void run(Bench bench) {
		long records = SetCase.RECORDS;
		try (Dataset data = bench.dataset("other", new Shape.Set(13), records);
				JavaServer other = bench.startOther(this.otherJar)) {
			Path file = data.file(Form.NDJSON);
			race(bench, "ndjson", "1M SETs as NDJSON", bench.uploads(data, bench.pipeset(), Form.NDJSON),
					bench.bothWays("other", "other build, NDJSON", other,
							(query) -> bench.caller().post(other.uri("/v1/jobs?" + query), file, Form.NDJSON)));
			race(bench, "generated", "1M SETs, generated", bench.generated(records, bench.pipeset()),
					bench.bothWays("other", "other build, generated", other,
							(query) -> bench.caller().post(List.of(other.uri("/pipeset/" + records + "?" + query)))));
		}
	}

	private static void race(Bench bench, String key, String title, List<Contender> ours, List<Contender> others) {
		List<Contender> contenders = new ArrayList<>(others);
		contenders.addAll(ours);
		String full = "other/" + key;
		bench.raceEmpty(full + "/empty", title + ", two builds, into an empty database", SetCase.RECORDS, contenders);
		bench.raceOverwriting(full + "/overwriting", title + ", two builds, over the same keys", SetCase.RECORDS,
				contenders);
	}

}
