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
			Each table compares ways to do the same work. The first row is the reference of its ratios.
			docs/benchmarks.md explains the columns.

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
