package io.pipeset.benchmark.cases;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;

/** The same 1M SETs in every format. */
public final class FormatsCase implements BenchmarkCase {

	private static final long RECORDS = 1_000_000;

	@Override
	public void run(Bench bench) {
		try (Dataset data = bench.dataset("formats", new Shape.Set(13), RECORDS)) {
			bench.raceEmpty("formats", "1M SETs of 13 bytes in every format, into an empty database", RECORDS,
					bench.uploads(data, bench.redis().address(), bench.pipeset(), Form.NDJSON, Form.NDJSON_GZIP,
							Form.CSV, Form.TEXT, Form.RESP),
					2);
		}
	}

}
