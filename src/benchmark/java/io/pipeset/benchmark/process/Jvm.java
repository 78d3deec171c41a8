package io.pipeset.benchmark.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Java and its flags.
 *
 * @param java the {@code java} executable
 * @param flags the arguments before the class or jar
 */
public record Jvm(Path java, List<String> flags) {

	private static final Pattern IN_DOCKERFILE = Pattern.compile("^ENV JAVA_TOOL_OPTIONS=\"([^\"]*)\"",
			Pattern.MULTILINE);

	private static final Pattern VERSION = Pattern.compile("version \"([^\"]+)\"");

	/**
	 * Reads the flags of the container image from the one place that has them.
	 * @return the flags
	 */
	public static List<String> containerFlags() {
		try {
			Matcher options = IN_DOCKERFILE.matcher(Files.readString(Path.of("Dockerfile")));
			if (!options.find()) {
				throw new BenchmarkException("The Dockerfile sets no JAVA_TOOL_OPTIONS");
			}
			return split(options.group(1));
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot read the Dockerfile", ex);
		}
	}

	/**
	 * Splits flags at their spaces.
	 * @param flags as on a command line
	 * @return the flags
	 */
	public static List<String> split(String flags) {
		return Stream.of(flags.strip().split("\\s+")).filter((flag) -> !flag.isEmpty()).toList();
	}

	/**
	 * This JVM with another heap.
	 * @param size as in {@code -Xmx}
	 * @return the JVM
	 */
	public Jvm withHeap(String size) {
		return replacing("-Xmx.*", "-Xmx" + size);
	}

	/**
	 * This JVM with another collector.
	 * @param collector as in {@code -XX:+Use…}
	 * @return the JVM
	 */
	public Jvm withCollector(String collector) {
		return replacing("-XX:\\+Use[A-Za-z0-9]*GC", "-XX:+Use" + collector);
	}

	private Jvm replacing(String pattern, String flag) {
		List<String> changed = new ArrayList<>(this.flags);
		changed.removeIf((present) -> present.matches(pattern));
		changed.add(flag);
		return new Jvm(this.java, List.copyOf(changed));
	}

	/**
	 * Whether this JVM starts at all with its flags.
	 * @return {@code false} if it refuses a flag
	 */
	public boolean starts() {
		try {
			version();
			return true;
		}
		catch (BenchmarkException ex) {
			return false;
		}
	}

	/**
	 * The version that it reports.
	 * @return for instance 17.0.15
	 */
	public String version() {
		List<String> arguments = new ArrayList<>(this.flags);
		arguments.add("-version");
		Matcher version = VERSION.matcher(new Program(this.java).run(null, Map.of(), arguments));
		return (version.find()) ? version.group(1) : "?";
	}

	/**
	 * The feature number of its version.
	 * @return for instance 17
	 */
	public int feature() {
		return Integer.parseInt(version().replaceAll("\\D.*", ""));
	}

}
