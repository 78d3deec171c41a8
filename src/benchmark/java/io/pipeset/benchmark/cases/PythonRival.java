package io.pipeset.benchmark.cases;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.pipeset.benchmark.measure.Contender;
import io.pipeset.benchmark.process.Address;
import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.Program;

/**
 * A program of Python, which takes part if this machine has its libraries.
 *
 * @param script the name of its file
 * @param libraries what it imports, separated by commas
 */
record PythonRival(String script, String libraries) {

	private static final Path SCRIPTS = Path.of("src", "benchmark", "python");

	/** The program as a contender, which gets its input before the address of Redis. */
	Contender contender(String name, String input, Address address) {
		List<String> arguments = new ArrayList<>(List.of(SCRIPTS.resolve(this.script).toString(), input));
		arguments.addAll(List.of(Address.HOST, String.valueOf(address.port())));
		Optional<Program> python = Program.find("python3").filter(this::hasLibraries);
		return python
			.map((program) -> new Contender("python", name, null,
					() -> Long.parseLong(program.run(null, Map.of("REDISCLI_AUTH", address.password()), arguments))))
			.orElseGet(() -> Contender.missing("python", name));
	}

	private boolean hasLibraries(Program python) {
		try {
			python.run(null, Map.of(), List.of("-c", "import " + this.libraries));
			return true;
		}
		catch (BenchmarkException ex) {
			return false;
		}
	}

}
