package io.pipeset.benchmark.cases;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;

/** SETs of larger values, fewer of them. */
public final class ValuesCase implements BenchmarkCase {

	@Override
	public void run(Bench bench) {
		race(bench, "values/1k", "100,000 SETs of 1 KB", 1024, 100_000);
		race(bench, "values/100k", "2,000 SETs of 100 KB", 100 * 1024, 2_000);
	}

	private static void race(Bench bench, String key, String title, int valueBytes, long records) {
		try (Dataset data = bench.dataset(key.replace('/', '-'), new Shape.Set(valueBytes), records)) {
			bench.raceEmpty(key, title + ", into an empty database", records,
					bench.uploads(data, bench.redis().address(), bench.pipeset(), Form.NDJSON));
		}
	}

}
