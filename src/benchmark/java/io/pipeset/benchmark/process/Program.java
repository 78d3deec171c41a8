package io.pipeset.benchmark.process;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * A program of the user's machine.
 *
 * @param path the executable
 */
public record Program(Path path) {

	/**
	 * Looks a program up on the PATH.
	 * @param name its name
	 * @return the program, if it is installed
	 */
	public static Optional<Program> find(String name) {
		String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
		return Arrays.stream(path.split(File.pathSeparator))
			.map((directory) -> Path.of(directory, name))
			.filter(Files::isExecutable)
			.findFirst()
			.map(Program::new);
	}

	/**
	 * Runs the program to its end.
	 * @param input the file that it reads, or {@code null} for none
	 * @param environment the variables to add to its environment
	 * @param arguments its arguments
	 * @return its output
	 * @throws BenchmarkException if it ends with another status than 0
	 */
	public String run(@Nullable Path input, Map<String, String> environment, List<String> arguments) {
		List<String> command = new ArrayList<>();
		command.add(this.path.toString());
		command.addAll(arguments);
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		builder.environment().remove("JAVA_TOOL_OPTIONS");
		builder.environment().putAll(environment);
		if (input != null) {
			builder.redirectInput(input.toFile());
		}
		try {
			Process process = builder.start();
			if (input == null) {
				process.getOutputStream().close();
			}
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
			int status = process.waitFor();
			if (status != 0) {
				throw new BenchmarkException(this.path.getFileName() + " ended with status " + status + ": " + output);
			}
			return output;
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot run " + this.path.getFileName(), ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BenchmarkException("Interrupted", ex);
		}
	}

}
