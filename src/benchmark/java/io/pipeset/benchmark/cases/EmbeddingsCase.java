package io.pipeset.benchmark.cases;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.process.JavaServer;

/** Documents with embeddings as NDJSON, which become hashes with vectors of FLOAT32. */
public final class EmbeddingsCase implements BenchmarkCase {

	private static final long DOCUMENTS = 100_000;

	private static final int NUMBERS = 1536;

	private static final PythonRival PYTHON = new PythonRival("embeddings.py", "numpy, redis");

	@Override
	public void run(Bench bench) {
		JavaServer service = bench.pipeset();
		URI jobs = service
			.uri("/v1/jobs?op=HSET&key=doc:%7Bid%7D&fields=title,embedding=%7Bembedding:f32%5B" + NUMBERS + "%5D%7D");
		try (Dataset data = bench.dataset("embeddings", new Shape.Document(NUMBERS), DOCUMENTS)) {
			Path file = data.file(Form.NDJSON);
			bench.raceEmpty("embeddings", "100,000 documents with embeddings of 1,536 numbers, as NDJSON", DOCUMENTS,
					List.of(PYTHON.contender("Python: json, numpy, redis-py", file.toString(), bench.redis().address()),
							new Contender("pipeset", "Pipeset, {embedding:f32}", service,
									() -> bench.caller().post(jobs, file, Form.NDJSON))));
		}
	}

}
