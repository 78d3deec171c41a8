package io.pipeset.benchmark.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the pauses that a JVM logs. */
public final class GcLog {

	private static final Pattern PAUSE = Pattern.compile("GC\\(\\d+\\) (?:[yYO]: )?Pause .*?([0-9.]+)ms$");

	private final Path file;

	GcLog(Path file) {
		this.file = file;
	}

	String flag() {
		return "-Xlog:gc,gc+phases:file=" + this.file + ":uptime:filecount=0";
	}

	/**
	 * The place at which the log ends now.
	 * @return bytes
	 */
	public long end() {
		try {
			return Files.size(this.file);
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot read " + this.file, ex);
		}
	}

	/**
	 * The pauses logged since.
	 * @param start an earlier {@link #end()}
	 * @return the number of pauses, and the longest
	 */
	public Backoff since(long start) {
		try {
			byte[] log = Files.readAllBytes(this.file);
			String added = new String(log, (int) start, log.length - (int) start, StandardCharsets.UTF_8);
			int count = 0;
			double longest = 0;
			for (String line : added.lines().toList()) {
				Matcher pause = PAUSE.matcher(line);
				if (pause.find()) {
					count++;
					longest = Math.max(longest, Double.parseDouble(pause.group(1)));
				}
			}
			return new Backoff(count, longest);
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot read " + this.file, ex);
		}
	}

	/**
	 * Times in which a JVM stood still for its collector.
	 *
	 * @param count how many there were
	 * @param longestMillis the longest
	 */
	public record Backoff(int count, double longestMillis) {

	}

}
