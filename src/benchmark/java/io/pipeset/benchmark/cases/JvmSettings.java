package io.pipeset.benchmark.cases;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.pipeset.benchmark.process.Jvm;

/**
 * One way to run the service.
 *
 * @param name for people
 * @param jvm Java and flags
 * @param transport jars that Lettuce finds a native transport in; empty for NIO
 * @param arguments of the service
 */
record JvmSettings(String name, Jvm jvm, List<Path> transport, List<String> arguments) {

	private static final List<String> COLLECTORS = List.of("SerialGC", "ParallelGC", "G1GC", "ZGC");

	private static final List<String> HEAPS = List.of("128m", "256m");

	private static final List<String> EPOLL = List.of("netty-transport-native-epoll-", "netty-transport-classes-epoll-",
			"netty-transport-native-unix-common-");

	/**
	 * The first Java whose virtual threads do not pin their carrier when they wait for a
	 * lock.
	 */
	private static final int VIRTUAL_THREADS = 21;

	/** All ways that a Java can run. */
	static List<JvmSettings> of(Jvm jvm) {
		String java = "Java " + jvm.version();
		List<JvmSettings> all = new ArrayList<>();
		all.add(new JvmSettings(java + ", as given", jvm, List.of(), List.of()));
		for (String collector : COLLECTORS) {
			for (String heap : HEAPS) {
				Jvm changed = jvm.withCollector(collector).withHeap(heap);
				if (changed.starts()) {
					all.add(new JvmSettings(java + ", " + collector + ", " + heap, changed, List.of(), List.of()));
				}
			}
		}
		List<Path> epoll = epoll();
		if (!epoll.isEmpty()) {
			all.add(new JvmSettings(java + ", as given, epoll", jvm, epoll, List.of()));
		}
		if (jvm.feature() >= VIRTUAL_THREADS) {
			all.add(new JvmSettings(java + ", as given, virtual threads", jvm, List.of(),
					List.of("--spring.threads.virtual.enabled=true")));
		}
		return all;
	}

	/** The arguments that start the jar, with the transport's jars on its class path. */
	List<String> program(Path jar) {
		List<String> program = new ArrayList<>();
		if (this.transport.isEmpty()) {
			program.addAll(List.of("-jar", jar.toString()));
		}
		else {
			program.add("-Dloader.path=" + String.join(",", this.transport.stream().map(Path::toString).toList()));
			program.addAll(List.of("-cp", jar.toString(), "org.springframework.boot.loader.launch.PropertiesLauncher"));
		}
		program.addAll(this.arguments);
		return program;
	}

	private static List<Path> epoll() {
		if (!System.getProperty("os.name").equals("Linux")) {
			return List.of();
		}
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
			.map(Path::of)
			.filter((path) -> EPOLL.stream().anyMatch(path.getFileName().toString()::startsWith))
			.toList();
	}

}
