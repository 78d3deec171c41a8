package io.pipeset.dev;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The cache returns an executable only if it has the expected SHA-256.
 */
class ExecutableCacheTests {

	/** The smallest one. */
	private static final CarriedExecutable EXECUTABLE = CarriedExecutable.DARWIN_ARM64;

	@TempDir
	private Path directory;

	@ParameterizedTest
	@EnumSource
	void everyCarriedExecutableHasTheExpectedChecksum(CarriedExecutable executable) throws IOException {
		Path file = new ExecutableCache(this.directory).install(executable, this.directory);
		assertThat(file).isExecutable().hasFileName(executable.fileName());
	}

	@Test
	void theCacheIsPrivateAndHasNoIncompleteFiles() throws IOException {
		Path cache = this.directory.resolve("cache");
		Path file = new ExecutableCache(cache).install(EXECUTABLE, this.directory);
		assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(cache))).isEqualTo("rwx------");
		assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rwx------");
		try (Stream<Path> files = Files.list(cache)) {
			assertThat(files).containsExactly(file);
		}
	}

	@Test
	void anIntactFileIsUsedAgain() throws IOException {
		ExecutableCache cache = new ExecutableCache(this.directory);
		Path file = cache.install(EXECUTABLE, this.directory);
		Object first = Files.readAttributes(file, "unix:ino").get("ino");
		cache.install(EXECUTABLE, this.directory);
		assertThat(Files.readAttributes(file, "unix:ino")).containsEntry("ino", first);
	}

	@Test
	void aTamperedFileIsReplaced() throws IOException {
		ExecutableCache cache = new ExecutableCache(this.directory);
		Path file = cache.install(EXECUTABLE, this.directory);
		byte[] original = Files.readAllBytes(file);
		byte[] tampered = original.clone();
		tampered[tampered.length / 2] ^= 1;
		Files.write(file, tampered);
		assertThat(cache.install(EXECUTABLE, this.directory)).isEqualTo(file).hasBinaryContent(original);
	}

	@Test
	void aLinkToAnotherFileIsReplacedEvenIfThatFileIsIntact() throws IOException {
		Path elsewhere = new ExecutableCache(this.directory.resolve("elsewhere")).install(EXECUTABLE, this.directory);
		Path cache = Files.createDirectory(this.directory.resolve("cache"));
		Path link = Files.createSymbolicLink(cache.resolve(EXECUTABLE.fileName()), elsewhere);
		assertThat(new ExecutableCache(cache).install(EXECUTABLE, this.directory)).isEqualTo(link);
		assertThat(Files.isSymbolicLink(link)).isFalse();
		assertThat(elsewhere).exists();
	}

	@Test
	void theFallbackIsUsedIfTheCacheCannotBeWritten() throws IOException {
		Path notADirectory = Files.writeString(this.directory.resolve("file"), "");
		Path fallback = Files.createDirectory(this.directory.resolve("fallback"));
		Path file = new ExecutableCache(notADirectory.resolve("cache")).install(EXECUTABLE, fallback);
		assertThat(file).hasParent(fallback).isExecutable();
	}

	@ParameterizedTest
	@CsvSource({ "Linux, amd64, LINUX_AMD64", "Linux, aarch64, LINUX_ARM64", "Linux, i386, LINUX_386",
			"Mac OS X, x86_64, DARWIN_AMD64", "Mac OS X, aarch64, DARWIN_ARM64" })
	void platformsThatHaveAnExecutable(String osName, String osArch, CarriedExecutable expected) {
		assertThat(CarriedExecutable.forPlatform(osName, osArch)).contains(expected);
	}

	@ParameterizedTest
	@CsvSource({ "Windows 11, amd64", "Linux, riscv64", "Mac OS X, x86", "FreeBSD, amd64" })
	void platformsThatHaveNone(String osName, String osArch) {
		assertThat(CarriedExecutable.forPlatform(osName, osArch)).isEmpty();
	}

}
