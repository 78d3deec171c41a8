package io.pipeset.dev;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The embedded Redis ends with its JVM, however the JVM ends, and leaves no files or
 * processes.
 */
class EmbeddedRedisLifetimeTests {

	@TempDir
	private Path temporary;

	@Test
	void sigkillOfTheJvmLeavesNoRedisServer() throws Exception {
		try (ChildRedis child = ChildRedis.start(this.temporary)) {
			List<ProcessHandle> family = child.jvm().descendants().toList();
			assertThat(family).contains(child.server());
			child.jvm().destroyForcibly();
			assertGone(family);
		}
	}

	@Test
	void aJvmThatSimplyReturnsFromMainLeavesNoRedisServer() throws Exception {
		try (ChildRedis child = ChildRedis.start(this.temporary)) {
			List<ProcessHandle> family = child.jvm().descendants().toList();
			child.finish();
			assertThat(child.jvm().waitFor(20, TimeUnit.SECONDS)).as("no thread of ours keeps the JVM").isTrue();
			assertGone(family);
		}
	}

	@Test
	void theGuardEndsWithAServerThatDiesByItself() throws Exception {
		try (ChildRedis child = ChildRedis.start(this.temporary)) {
			child.server().destroyForcibly();
			await().untilAsserted(() -> assertThat(child.jvm().descendants()).isEmpty());
			assertThat(child.jvm().isAlive()).isTrue();
		}
	}

	@Test
	void filesOfAClosedServerAreRemovedAndWereItsUsersAlone() throws Exception {
		EmbeddedRedis redis = EmbeddedRedis.start(CarriedProgram.verified().toString());
		Path directory;
		try (redis) {
			directory = Path.of("/proc", Long.toString(redis.pid()), "cwd");
			if (Files.exists(directory)) {
				directory = directory.toRealPath();
				assertThat(Files.getPosixFilePermissions(directory))
					.isEqualTo(PosixFilePermissions.fromString("rwx------"));
				assertThat(directory.resolve("password")).hasContent(redis.getPassword());
			}
		}
		assertThat(directory).doesNotExist();
	}

	@Test
	@EnabledOnOs(OS.LINUX)
	void ctrlCInTheTerminalOfTheJvmDoesNotReachTheServer() throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start(CarriedProgram.verified().toString())) {
			assertThat(processGroup(redis.pid())).isNotEqualTo(processGroup(ProcessHandle.current().pid()));
		}
	}

	private void assertGone(List<ProcessHandle> family) {
		await().untilAsserted(() -> {
			assertThat(family).allMatch(EmbeddedRedisLifetimeTests::hasEnded);
			assertThat(leftovers()).isEmpty();
		});
	}

	/**
	 * Whether a process has ended, even if its new parent, process 1, has not reaped it
	 * yet.
	 */
	private static boolean hasEnded(ProcessHandle process) {
		try {
			return !process.isAlive() || stat(process.pid())[0].equals("Z");
		}
		catch (IOException ex) {
			return !process.isAlive();
		}
	}

	private static String processGroup(long pid) throws IOException {
		return stat(pid)[2];
	}

	/**
	 * The fields of {@code /proc/<pid>/stat} from the state on, if the machine has /proc.
	 */
	private static String[] stat(long pid) throws IOException {
		String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
		return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
	}

	private List<Path> leftovers() throws IOException {
		try (Stream<Path> files = Files.list(this.temporary)) {
			return files.filter((file) -> file.getFileName().toString().startsWith("pipeset-")).toList();
		}
	}

}
