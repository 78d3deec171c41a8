package io.pipeset.benchmark.cases;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.process.JavaServer;

/** 10M records through a heap of 128 MB, after 1M through the same. */
public final class LongCase implements BenchmarkCase {

	@Override
	public void run(Bench bench) {
		bench.stopPipeset();
		try (JavaServer small = bench.start("pipeset-128m", bench.jvm().withHeap("128m"), bench.redis().address())) {
			race(bench, small, "long/1m", "1M SETs at -Xmx128m", SetCase.RECORDS, 3);
			race(bench, small, "long/10m", "10M SETs at -Xmx128m", 10 * SetCase.RECORDS, 1);
		}
	}

	private static void race(Bench bench, JavaServer small, String key, String title, long records, int warmUps) {
		try (Dataset data = bench.dataset("long", new Shape.Set(13), records)) {
			bench.raceEmpty(key, title, records, bench.uploads(data, bench.redis().address(), small, Form.NDJSON),
					warmUps);
		}
	}

}
