package io.pipeset.benchmark.cases;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;

/** 1M HSETs of five fields. */
public final class HashCase implements BenchmarkCase {

	private static final long RECORDS = 1_000_000;

	@Override
	public void run(Bench bench) {
		try (Dataset data = bench.dataset("hset", new Shape.Hash(), RECORDS)) {
			bench.raceEmpty("hset", "1M HSETs of 5 fields, into an empty database", RECORDS,
					bench.uploads(data, bench.redis().address(), bench.pipeset(), Form.NDJSON), 2);
		}
	}

}
