package io.pipeset.benchmark.cases;

import java.util.ArrayList;
import java.util.List;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;

/** The same 1M SETs in every format. */
public final class FormatsCase implements BenchmarkCase {

	private static final long RECORDS = 1_000_000;

	private static final List<Form> FORMS = List.of(Form.NDJSON, Form.NDJSON_GZIP, Form.CSV, Form.TEXT, Form.RESP);

	@Override
	public void run(Bench bench) {
		try (Dataset data = bench.dataset("formats", new Shape.Set(13), RECORDS)) {
			List<Contender> contenders = new ArrayList<>();
			contenders.add(bench.redisCli(data, bench.redis().address()));
			FORMS.forEach((form) -> contenders.add(bench.upload(data, form, bench.pipeset())));
			bench.raceEmpty("formats", "1M SETs of 13 bytes in every format, into an empty database", RECORDS,
					contenders, 2);
		}
	}

}
