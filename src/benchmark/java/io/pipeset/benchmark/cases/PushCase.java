package io.pipeset.benchmark.cases;

import java.util.List;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Race;
import io.pipeset.benchmark.process.BenchmarkException;

/** 1M LPUSHes to one list, and 1M SADDs to one set. */
public final class PushCase implements BenchmarkCase {

	private static final String KEY = "benchmark";

	@Override
	public void run(Bench bench) {
		for (String operation : List.of("LPUSH", "SADD")) {
			race(bench, operation);
		}
	}

	private static void race(Bench bench, String operation) {
		String key = "push/" + operation;
		try (Dataset data = bench.dataset("push", new Shape.Element(operation, KEY), SetCase.RECORDS)) {
			bench.run(new Race(key, "1M elements of 13 bytes to one key, by " + operation, SetCase.RECORDS,
					bench.redis()::flush, () -> requireElements(bench),
					bench.uploads(data, bench.redis().address(), bench.pipeset(), Form.NDJSON)));
		}
	}

	private static void requireElements(Bench bench) {
		long elements = bench.redis().length(KEY);
		if (elements != SetCase.RECORDS) {
			throw new BenchmarkException("There are " + elements + " elements instead of " + SetCase.RECORDS);
		}
	}

}
