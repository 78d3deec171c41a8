package io.pipeset.service;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The service's classes in an archive of the virtual machine, which takes a third off the
 * work of each further start. All processes of a build share it.
 */
final class ServiceClasses {

	private static final Path CLASSES = Path.of("target", "classes").toAbsolutePath();

	private static final Path DIRECTORY = Path.of("target", "service-classes").toAbsolutePath();

	/** Classes in a directory cannot be archived. */
	private static final Path JAR = DIRECTORY.resolve("classes.jar");

	private static final Path ARCHIVE = DIRECTORY.resolve(Runtime.version() + ".jsa");

	private ServiceClasses() {
	}

	/**
	 * The options of a machine that loads the classes. The first call makes the archive.
	 * @param training starts the service with options, uses it and ends it in order
	 */
	static synchronized List<String> options(Training training) throws Exception {
		Files.createDirectories(DIRECTORY);
		try (FileChannel file = FileChannel.open(DIRECTORY.resolve("lock"), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE); FileLock lock = file.lock()) {
			if (lock.isValid() && isStale()) {
				Files.deleteIfExists(ARCHIVE);
				pack();
				training.run(options("-XX:ArchiveClassesAtExit=" + ARCHIVE));
			}
		}
		return options("-XX:SharedArchiveFile=" + ARCHIVE);
	}

	private static boolean isStale() throws IOException {
		if (!Files.exists(ARCHIVE)) {
			return true;
		}
		long made = Files.getLastModifiedTime(ARCHIVE).toMillis();
		try (Stream<Path> all = Files.walk(CLASSES)) {
			// The time of the build says nothing of the classes.
			return all.filter((path) -> !path.endsWith("build-info.properties"))
				.anyMatch((path) -> path.toFile().lastModified() > made);
		}
	}

	private static void pack() {
		StringWriter said = new StringWriter();
		PrintWriter writer = new PrintWriter(said);
		int status = ToolProvider.findFirst("jar")
			.orElseThrow()
			.run(writer, writer, "--create", "--file", JAR.toString(), "-C", CLASSES.toString(), ".");
		if (status != 0) {
			throw new IllegalStateException("jar: " + said);
		}
	}

	/** The class path of the tests but for their own classes. */
	private static List<String> options(String archive) {
		String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
			.filter((entry) -> !entry.endsWith("test-classes"))
			.map((entry) -> (Path.of(entry).toAbsolutePath().equals(CLASSES)) ? JAR.toString() : entry)
			.collect(Collectors.joining(File.pathSeparator));
		// A machine that cannot use the archive does without, and says so in the log.
		return List.of("-XX:TieredStopAtLevel=1", "-Xlog:cds*=off", archive, "-cp", classPath);
	}

	/** A run of the service that loads the classes to be archived. */
	@FunctionalInterface
	interface Training {

		void run(List<String> options) throws Exception;

	}

}
