package io.pipeset.benchmark.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;

import io.pipeset.benchmark.process.BenchmarkException;

/**
 * Figures as a page for people.
 *
 * @param title its heading
 * @param chart the picture beside it, or empty
 * @param command the command that made it
 * @param tables the tables that it shows
 */
public record Document(String title, String chart, String command, List<Table> tables) {

	private static final String HOW = """
			Redis and every service run as processes of their own, all on this machine and over 127.0.0.1. Pipeset takes part in
			both its ways: with `coalesce=off` it sends a command for each record, as all others do; with `coalesce=auto`, its
			default, neighbouring records go as [one command](coalescing.md). The targets are for `coalesce=auto` if they do not name
			the other way.

			The contenders of a table run by turns and begin by turns (A B C B C A C A B …), services after warm-up rounds of
			their own; a figure is the median of the runs, a ratio that of the medians, to the table's first row. After each run
			the number of records that were applied and of keys in Redis is checked. The time is that from the start of the client
			to its end. CPU seconds are those the kernel has booked, user and system, per million records; those of Redis depend
			far less than the time on what else the machine does. The client is curl, redis-cli or the harness itself, which also
			carries the proxy that delays. Bytes allocated are the exact counters of the JVM's threads. The longest pause and the
			peak RSS are those of the worst run. Without `-Dbenchmark.long`, who takes more than five seconds runs three times.
			Uploads are files that were written before. The first try runs with the JVM's own defaults, stock `executePipelined`
			with the service's flags, in batches of 10,000 on a pool of 16 connections, without Lettuce observations. Spring Batch
			runs likewise, in chunks of 1,000 rows, and writes down nothing about them. PostgreSQL's CPU seconds are in no column.

			The first ten seconds begin when `/actuator/health/readiness` of a new process says UP, for each run another one. The
			same process is warm after 12 seconds of one caller and 46 seconds of all.
			""";

	/**
	 * Writes the page.
	 * @param file the file
	 */
	public void write(Path file) {
		StringBuilder text = new StringBuilder("# " + this.title + "\n\n");
		text.append("Made on ")
			.append(LocalDate.now(ZoneOffset.UTC))
			.append(" by\n\n```\n")
			.append(this.command)
			.append("\n```\n\n");
		if (!this.chart.isEmpty()) {
			text.append("![Seconds for a million SETs](").append(this.chart).append(")\n\n");
		}
		for (Table table : this.tables) {
			text.append("## ").append(table.title()).append("\n\n").append(table.toMarkdown()).append('\n');
		}
		text.append("## How it is measured\n\n").append(HOW);
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
