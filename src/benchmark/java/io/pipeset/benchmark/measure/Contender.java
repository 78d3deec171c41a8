package io.pipeset.benchmark.measure;

import io.pipeset.benchmark.process.JavaServer;
import org.jspecify.annotations.Nullable;

/**
 * One way to get commands into Redis.
 *
 * @param id its part of a figure's name
 * @param name for people
 * @param service the JVM to look into, or {@code null} if there is none
 * @param attempt runs it once; {@code null} if it is not installed
 */
public record Contender(String id, String name, @Nullable JavaServer service, @Nullable Attempt attempt) {

	/**
	 * A program that is not installed, but has its row.
	 * @param id its part of a figure's name
	 * @param name for people
	 * @return a contender that does not run
	 */
	public static Contender missing(String id, String name) {
		return new Contender(id, name + " (not installed)", null, null);
	}

	/** Sends all commands and waits for all replies. */
	@FunctionalInterface
	public interface Attempt {

		/**
		 * Sends the commands.
		 * @return how many commands ran
		 */
		long run();

	}

}
