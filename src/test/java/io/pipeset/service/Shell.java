package io.pipeset.service;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Runs the commands of the documentation as they stand, but for the port of the service.
 */
public final class Shell {

	private static final int MINUTES = 10;

	private final Path folder;

	private final int port;

	/**
	 * Opens a shell in a folder. A test is skipped where there is none.
	 * @param port the port of the service that is at 8080 in the documentation
	 */
	public Shell(Path folder, int port) throws Exception {
		this.folder = folder;
		this.port = port;
		for (String program : List.of("bash", "curl", "jq")) {
			boolean isThere = new ProcessBuilder("sh", "-c", "command -v " + program)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor() == 0;
			assumeTrue(isThere, program + " is not there, with which the commands of the documentation are run");
		}
	}

	/**
	 * Runs commands to their end, which has to be a good one, and answers their output.
	 */
	public String run(String commands) throws Exception {
		Path output = this.folder.resolve("output");
		Process process = start(commands, output);
		try {
			assertThat(process.waitFor(MINUTES, TimeUnit.MINUTES)).isTrue();
		}
		finally {
			process.descendants().forEach(ProcessHandle::destroy);
			process.destroy();
		}
		assertThat(process.exitValue()).as(() -> text(output) + text(errors(output))).isZero();
		return text(output);
	}

	/** Begins commands, to be ended by the test, with their output in a file. */
	public Process start(String commands, Path output) throws IOException {
		return new ProcessBuilder("bash", "-euo", "pipefail", "-c",
				commands.replace("localhost:8080", "localhost:" + this.port))
			.directory(this.folder.toFile())
			.redirectOutput(output.toFile())
			.redirectError(errors(output).toFile())
			.start();
	}

	private static Path errors(Path output) {
		return output.resolveSibling(output.getFileName() + ".errors");
	}

	public static String text(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			return ex.toString();
		}
	}

}
