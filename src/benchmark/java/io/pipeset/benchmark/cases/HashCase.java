package io.pipeset.benchmark.cases;

import java.util.List;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;

/** 1M HSETs of five fields. */
public final class HashCase implements BenchmarkCase {

	private static final long RECORDS = 1_000_000;

	@Override
	public void run(Bench bench) {
		try (Dataset data = bench.dataset("hset", new Shape.Hash(), RECORDS)) {
			bench.raceEmpty("hset", "1M HSETs of 5 fields, into an empty database", RECORDS, List
				.of(bench.redisCli(data, bench.redis().address()), bench.upload(data, Form.NDJSON, bench.pipeset())),
					2);
		}
	}

}
