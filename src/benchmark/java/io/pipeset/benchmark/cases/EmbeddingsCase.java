package io.pipeset.benchmark.cases;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.pipeset.benchmark.data.Dataset;
import io.pipeset.benchmark.data.Form;
import io.pipeset.benchmark.data.Shape;
import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.process.Address;
import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.Program;

/** Documents with embeddings as NDJSON, which become hashes with vectors of FLOAT32. */
public final class EmbeddingsCase implements BenchmarkCase {

	private static final long DOCUMENTS = 100_000;

	private static final int NUMBERS = 1536;

	private static final Path SCRIPT = Path.of("src", "benchmark", "python", "embeddings.py");

	@Override
	public void run(Bench bench) {
		JavaServer service = bench.pipeset();
		URI jobs = service
			.uri("/v1/jobs?op=HSET&key=doc:%7Bid%7D&fields=title,embedding=%7Bembedding:f32%5B" + NUMBERS + "%5D%7D");
		try (Dataset data = bench.dataset("embeddings", new Shape.Document(NUMBERS), DOCUMENTS)) {
			Path file = data.file(Form.NDJSON);
			bench.raceEmpty("embeddings", "100,000 documents with embeddings of 1,536 numbers, as NDJSON", DOCUMENTS,
					List.of(python(file, bench.redis().address()), new Contender("pipeset", "Pipeset, {embedding:f32}",
							service, () -> bench.caller().post(jobs, file, Form.NDJSON))));
		}
	}

	/** A program of Python, if this machine has its libraries. */
	private static Contender python(Path file, Address address) {
		String name = "Python: json, numpy, redis-py";
		Optional<Program> python = Program.find("python3").filter(EmbeddingsCase::hasLibraries);
		return python
			.map((program) -> new Contender("python", name, null,
					() -> Long.parseLong(program.run(null, Map.of("REDISCLI_AUTH", address.password()),
							List.of(SCRIPT.toString(), file.toString(), Address.HOST,
									String.valueOf(address.port()))))))
			.orElseGet(() -> Contender.missing("python", name));
	}

	private static boolean hasLibraries(Program python) {
		try {
			python.run(null, Map.of(), List.of("-c", "import numpy, redis"));
			return true;
		}
		catch (BenchmarkException ex) {
			return false;
		}
	}

}
