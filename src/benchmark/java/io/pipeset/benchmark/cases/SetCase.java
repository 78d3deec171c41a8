package io.pipeset.benchmark.cases;

import java.util.ArrayList;
import java.util.List;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;

/** 1M SETs, generated, as NDJSON and as JSON, into an empty database and over it. */
public final class SetCase implements BenchmarkCase {

	static final long RECORDS = 1_000_000;

	@Override
	public void run(Bench bench) {
		try (Dataset data = bench.dataset("set-generated", new Shape.GeneratedSet(), RECORDS)) {
			List<Contender> contenders = new ArrayList<>(List.of(bench.redisCli(data, bench.redis().address())));
			contenders.addAll(bench.generated(RECORDS, bench.pipeset()));
			race(bench, "set/generated", "1M SETs as the service generates them", contenders);
		}
		try (Dataset data = bench.dataset("set", new Shape.Set(13), RECORDS)) {
			race(bench, "set/uploaded", "1M SETs of 13 bytes, uploaded",
					bench.uploads(data, bench.redis().address(), bench.pipeset(), Form.NDJSON, Form.JSON));
		}
	}

	private static void race(Bench bench, String key, String title, List<Contender> contenders) {
		bench.raceEmpty(key + "/empty", title + ", into an empty database", RECORDS, contenders);
		bench.raceOverwriting(key + "/overwriting", title + ", over the same keys", RECORDS, contenders);
	}

}
