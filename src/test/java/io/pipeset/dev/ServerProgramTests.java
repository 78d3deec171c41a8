package io.pipeset.dev;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The program on the class path is run only if it has the expected SHA-256.
 */
class ServerProgramTests {

	@TempDir
	private Path directory;

	static Set<String> platforms() {
		return ServerProgram.CARRIED.keySet();
	}

	@ParameterizedTest
	@MethodSource("platforms")
	void everyCarriedProgramHasTheExpectedChecksum(String platform) throws IOException {
		Path file = ServerProgram.unpack(platform, this.directory);
		assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rwx------");
	}

	@Test
	void aProgramWithoutAKnownChecksumIsNotUnpacked() {
		assertThatExceptionOfType(EmbeddedRedisException.class)
			.isThrownBy(() -> ServerProgram.unpack("linux-386", this.directory))
			.withMessageContaining("its SHA-256 differs");
		assertThat(this.directory).isEmptyDirectory();
	}

	@ParameterizedTest
	@CsvSource({ "Linux, amd64, linux-amd64", "Linux, aarch64, linux-arm64", "Mac OS X, x86_64, darwin-amd64",
			"Mac OS X, aarch64, darwin-arm64" })
	void platformsThatHaveAProgram(String osName, String osArch, String expected) {
		assertThat(ServerProgram.platform(osName, osArch)).isEqualTo(expected).isIn(platforms());
	}

	@ParameterizedTest
	@CsvSource({ "Windows 11, amd64", "Linux, riscv64", "Linux, i386", "FreeBSD, amd64" })
	void platformsThatHaveNone(String osName, String osArch) {
		assertThat(ServerProgram.platform(osName, osArch)).isNotIn(platforms());
	}

}
