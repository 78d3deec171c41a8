package io.pipeset.benchmark.report;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Tells the person who waits how far the run has come. */
public final class Console {

	private final PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
			StandardCharsets.UTF_8);

	private final long started = System.nanoTime();

	/**
	 * Prints a line of its own.
	 * @param text the line
	 */
	public void say(String text) {
		this.out.println(text);
	}

	/**
	 * Prints a step, with the time since the start.
	 * @param step the step that was done
	 */
	public void progress(String step) {
		long seconds = elapsedSeconds();
		say(String.format(Locale.ROOT, "  [%2d:%02d] %s", seconds / 60, seconds % 60, step));
	}

	public long elapsedSeconds() {
		return (System.nanoTime() - this.started) / 1_000_000_000;
	}

}
