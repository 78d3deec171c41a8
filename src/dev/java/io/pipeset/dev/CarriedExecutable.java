package io.pipeset.dev;

import java.io.InputStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The redis-server executables in org.signal:embedded-redis:0.9.1. Each has the SHA-256
 * of the reviewed file, so that no other file from the class path is ever run.
 */
enum CarriedExecutable {

	LINUX_AMD64("linux-amd64", "c0cdeef856b3410fd99d6ec6fc6a20302e69059b00ce5d6abab7b3e5069ea91e"),

	LINUX_386("linux-386", "19106984e15b7e7ce22c9a3296fe6a5f85c43a72894144f98b1fb572b823a936"),

	LINUX_ARM64("linux-arm64", "d5c7ff117caf45d7dc2f59c1f956e1830438779947d66aa5647c2cdcc16eca50"),

	DARWIN_AMD64("darwin-amd64", "e22a3d9147802bba0724efb2e446c49e1e514e76ff8031bb6d44b8628400d8f3"),

	DARWIN_ARM64("darwin-arm64", "07838a2eb6f5961c89d8e6f1f83482de355dfc6bb04e05bfb00ae1f137dee129");

	private final String platform;

	private final String sha256;

	CarriedExecutable(String platform, String sha256) {
		this.platform = platform;
		this.sha256 = sha256;
	}

	String fileName() {
		return "redis-server-7.0.15-" + this.platform;
	}

	String sha256() {
		return this.sha256;
	}

	@Nullable InputStream open() {
		return CarriedExecutable.class.getClassLoader().getResourceAsStream(fileName());
	}

	static Optional<CarriedExecutable> forThisPlatform() {
		return forPlatform(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
	}

	static Optional<CarriedExecutable> forPlatform(String osName, String osArch) {
		String name = osName.toLowerCase(Locale.ROOT);
		String os = name.startsWith("linux") ? "linux" : name.startsWith("mac") ? "darwin" : "none";
		String arch = switch (osArch.toLowerCase(Locale.ROOT)) {
			case "amd64", "x86_64", "x86-64" -> "amd64";
			case "x86", "i386", "i486", "i586", "i686" -> "386";
			case "aarch64", "arm64" -> "arm64";
			default -> "none";
		};
		return Arrays.stream(values()).filter((executable) -> executable.platform.equals(os + "-" + arch)).findFirst();
	}

}
