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

	private static final String INTRO = """
			Each table compares ways to do the same work. The first row is the reference of its ratios.
			[How it is measured](#how-it-is-measured) explains the columns.

			""";

	private static final String HOW = """
			Redis and each service run as separate processes on one machine and connect over 127.0.0.1. Uploaded files are written
			before the clock starts.

			Pipeset runs in two modes. With `coalesce=off` it sends a command for each record, as all others do. With
			`coalesce=auto`, the default, neighbouring records go as [one command](coalescing.md). A target is for `coalesce=auto`
			unless it names the other mode.

			The rows of a table take turns, and the first one changes (A B C, B C A, C A B, …). Services run warm-up rounds first.
			After each run the benchmark checks the number of applied records and of keys in Redis. Without `-Dbenchmark.long`, a
			row that takes more than five seconds runs three times. The benchmark process also contains the proxy that adds
			network delay.

			| column | meaning |
			| --- | --- |
			| s | the median time from the start to the end of the client, which is curl, redis-cli or the benchmark itself |
			| min – max | the fastest and the slowest run |
			| ratio | the median, divided by the median of the first row |
			| CPU s/M | user and system CPU seconds per million records, as counted by the kernel. Other load of the machine changes the CPU time of Redis far less than `s` |
			| bytes/record | the bytes that the threads of the service allocated, by the counters of the JVM |
			| longest ms, peak RSS MB | the longest GC pause and the largest resident memory of all runs |

			The first try uses the JVM's own defaults. Stock `executePipelined` uses the flags of the service, batches of 10,000,
			a pool of 16 connections, and no Lettuce observations. Spring Batch does the same, in chunks of 1,000 rows, and stores
			no metadata of its jobs. No column contains the CPU seconds of PostgreSQL.

			The first ten seconds begin when `/actuator/health/readiness` of a new process is `UP`. Each run starts a new process.
			That process is warm after 12 seconds of load from one caller and 46 seconds from all callers.
			""";

	/**
	 * Writes the page.
	 * @param file the file
	 */
	public void write(Path file) {
		StringBuilder text = new StringBuilder("# " + this.title + "\n\n").append(INTRO);
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
