package io.pipeset.benchmark.cases;

import java.nio.file.Path;
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
				JavaServer other = bench.start("pipeset-other", bench.jvm(), this.otherJar, bench.redis().address())) {
			bench.raceEmpty("other/ndjson", "1M SETs as NDJSON, two builds", records,
					List.of(bench.upload(data, Form.NDJSON, bench.pipeset()),
							named("other build, NDJSON", bench.upload(data, Form.NDJSON, other))));
			bench.raceEmpty("other/generated", "1M SETs, generated, two builds", records,
					List.of(bench.generated(records, bench.pipeset()),
							named("other build, generated", bench.generated(records, other))));
		}
	}

	private static Contender named(String name, Contender contender) {
		return new Contender("other", name, contender.service(), contender.attempt());
	}

}
