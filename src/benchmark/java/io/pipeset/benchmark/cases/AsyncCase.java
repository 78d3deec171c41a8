package io.pipeset.benchmark.cases;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.process.JavaServer;

/** An upload whose job outlives it, and one with a key, beside the same upload alone. */
public final class AsyncCase implements BenchmarkCase {

	private static final long RECORDS = 1_000_000;

	@Override
	public void run(Bench bench) {
		// The records of jobs are no data.
		try (JavaServer service = bench.start("pipeset-async", bench.jvm(), bench.redis().address(),
				"--pipeset.control.database=1"); Dataset data = bench.dataset("async", new Shape.Set(13), RECORDS)) {
			Path file = data.file(Form.NDJSON);
			URI jobs = service.uri("/v1/jobs");
			bench
				.raceEmpty("async", "1M SETs as NDJSON, three ways to be told of the end", RECORDS, List
					.of(new Contender("direct", "direct", service, () -> bench.caller().post(jobs, file, Form.NDJSON)),
							new Contender("key", "direct, with an Idempotency-Key", service, () -> bench.caller()
								.post(jobs, file, Form.NDJSON, "Idempotency-Key", UUID.randomUUID().toString())),
							new Contender("async", "Prefer: respond-async", service,
									() -> bench.caller().postAsync(jobs, file, Form.NDJSON))));
		}
	}

}
