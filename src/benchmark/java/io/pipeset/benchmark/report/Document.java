package io.pipeset.benchmark.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;

import io.pipeset.benchmark.process.BenchmarkException;

/**
 * The figures of a run, in plain tables. {@code docs/benchmarks.md} shows some of them.
 *
 * @param title its heading
 * @param command the command that made it
 * @param tables the tables that it shows
 */
public record Document(String title, String command, List<Table> tables) {

	private static final String INTRO = """
			Each table compares ways to do the same work. The first row is the reference of its ratios. docs/benchmarks.md says how it is
			measured, and shows a part of the figures.

			s: the median time from the start to the end of the client, which is curl, redis-cli or the benchmark itself.
			min – max: the fastest and the slowest run. ratio: the median, divided by the median of the first row.
			CPU s/M: user and system CPU seconds per million records, as counted by the kernel, without those of PostgreSQL. Other load of
			the machine changes the CPU time of Redis far less than s.
			bytes/record: the bytes that the threads of the service allocated, by the counters of the JVM.
			longest ms, peak RSS MB: the longest GC pause and the largest resident memory of all runs.
			The rows of a table take turns, and the first one changes (A B C, B C A, C A B, …). Without -Dbenchmark.long, a row that takes
			more than five seconds runs three times. A process is warm after 12 seconds of load from one caller and 46 seconds from all
			callers. The benchmark process also contains the proxy that adds network delay.

			""";

	/**
	 * Writes the tables.
	 * @param file the file
	 */
	public void write(Path file) {
		StringBuilder text = new StringBuilder("# " + this.title + "\n\n").append(INTRO);
		text.append("Made on ")
			.append(LocalDate.now(ZoneOffset.UTC))
			.append(" by\n\n```\n")
			.append(this.command)
			.append("\n```\n");
		for (Table table : this.tables) {
			text.append("\n## ").append(table.title()).append("\n\n").append(table.toMarkdown());
		}
		write(file, text.toString());
	}

	/**
	 * Writes a file, and the folders above it.
	 * @param file the file
	 * @param text its text
	 */
	public static void write(Path file, String text) {
		try {
			Files.createDirectories(file.toAbsolutePath().getParent());
			Files.writeString(file, text);
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot write " + file, ex);
		}
	}

}
