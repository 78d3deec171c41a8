package io.pipeset.benchmark;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.pipeset.benchmark.process.Jvm;
import org.jspecify.annotations.Nullable;

/**
 * The options of the command line. Each is a {@code -Dbenchmark.…} of the same name.
 *
 * @param cases the cases to run; empty for those of a full run
 * @param runs the runs that count, of each contender
 * @param longRun whether the 10M case is part of a full run
 * @param docs whether to write the documents, even of some cases only
 * @param jvm the JVM that runs the service
 * @param javas further Javas to compare
 * @param grid values for the grid of defaults, where not its own
 * @param otherJar another build of the service to compare with, or {@code null}
 * @param directory where the build puts its files
 * @param jar the service that is measured
 */
public record Options(Set<String> cases, int runs, boolean longRun, boolean docs, Jvm jvm, List<Path> javas,
		String grid, @Nullable Path otherJar, Path directory, Path jar) {

	private static final String PREFIX = "benchmark.";

	static Options fromSystemProperties() {
		String java = get("java");
		Path executable = (java.isEmpty()) ? Path.of(System.getProperty("java.home"), "bin", "java") : Path.of(java);
		String flags = get("jvm");
		String runs = get("runs");
		String otherJar = get("otherJar");
		return new Options(new LinkedHashSet<>(list("cases", ",")), (runs.isEmpty()) ? 5 : Integer.parseInt(runs),
				isOn("long"), isOn("docs"),
				new Jvm(executable, (flags.isEmpty()) ? Jvm.containerFlags() : Jvm.split(flags)),
				list("javas", "[," + File.pathSeparator + "]").stream().map(Path::of).toList(), get("grid"),
				(otherJar.isEmpty()) ? null : Path.of(otherJar), Path.of(get("directory")), Path.of(get("jar")));
	}

	/** Whether this run has all figures of the document. */
	boolean isFull() {
		return this.cases.isEmpty() && this.runs >= 5;
	}

	Path work() {
		return this.directory.resolve("work");
	}

	/** The command that makes the same run, without the paths of one machine. */
	String command() {
		List<String> command = new ArrayList<>(List.of("mvn -Pbenchmark verify"));
		for (String name : List.of("long", "cases", "runs", "docs", "jvm", "grid")) {
			String value = get(name);
			if (!value.isEmpty() && !value.equals("false")) {
				command.add("-D" + PREFIX + name + "=" + ((value.matches("[\\w,.:-]+")) ? value : "'" + value + "'"));
			}
		}
		for (String name : List.of("java", "javas", "otherJar")) {
			if (!get(name).isEmpty()) {
				command.add("-D" + PREFIX + name + "=…");
			}
		}
		return String.join(" ", command);
	}

	private static boolean isOn(String name) {
		String value = get(name);
		return !value.isEmpty() && !value.equals("false");
	}

	private static List<String> list(String name, String separator) {
		return Stream.of(get(name).split(separator, -1)).map(String::strip).filter((item) -> !item.isEmpty()).toList();
	}

	private static String get(String name) {
		return System.getProperty(PREFIX + name, "").strip();
	}

}
