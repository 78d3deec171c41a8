package io.pipeset.benchmark.cases;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.JavaServer;
import io.pipeset.benchmark.process.Jvm;
import io.pipeset.benchmark.process.Launch;
import io.pipeset.benchmark.process.RedisCluster;
import io.pipeset.benchmark.rival.BatchApplication;
import io.pipeset.benchmark.rival.ClusterApplication;
import io.pipeset.benchmark.rival.FirstTryApplication;
import io.pipeset.benchmark.rival.StockApplication;

/** Starts the rivals that are services, on the libraries of the packaged service. */
final class RivalServers {

	private static final String LIBRARIES = "BOOT-INF/lib/";

	private static final String OBSERVATION = "org.springframework.boot.data.redis.autoconfigure.observation"
			+ ".LettuceObservationAutoConfiguration";

	/** The libraries that rivals do not have: they let everybody in. */
	private static final List<String> NOT_IN_RIVALS = List.of("spring-boot-security-", "spring-security-");

	/** The libraries that a project with only Boot's starters does not have besides. */
	private static final List<String> NOT_IN_FIRST_TRY = List.of("commons-pool2-", "micrometer-registry-",
			"prometheus-");

	private final Bench bench;

	private final Path directory;

	RivalServers(Bench bench) {
		this.bench = bench;
		this.directory = bench.work().resolve("rivals");
	}

	/** The first try with Boot's defaults, those of the JVM included. */
	JavaServer firstTry() {
		return start("first-try", FirstTryApplication.class, new Jvm(this.bench.jvm().java(), List.of()),
				libraries(NOT_IN_FIRST_TRY), Map.of());
	}

	/** Pooled, without observations, with the service's own JVM flags. */
	JavaServer stock() {
		Map<String, String> environment = new HashMap<>();
		putPooled(environment);
		return start("stock", StockApplication.class, this.bench.jvm(), libraries(List.of()), environment);
	}

	/** Spring Batch on rows of a database, run as the pooled one. */
	JavaServer batch(String url, String sql) {
		Map<String, String> environment = new HashMap<>();
		putPooled(environment);
		environment.put(BatchApplication.URL, url);
		environment.put(BatchApplication.SQL, sql);
		List<String> libraries = new ArrayList<>(libraries(List.of()));
		Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((path) -> Path.of(path).getFileName().toString().startsWith("spring-batch-"))
			.forEach(libraries::add);
		return start("rivals-batch", BatchApplication.class, this.bench.jvm(), libraries, environment);
	}

	/** Spring Data Redis and Lettuce on a cluster, run as above. */
	JavaServer cluster(RedisCluster cluster) {
		Map<String, String> environment = new HashMap<>(cluster.toSpring());
		environment.put("SPRING_AUTOCONFIGURE_EXCLUDE", OBSERVATION);
		return start("rivals-cluster", ClusterApplication.class, this.bench.jvm(), libraries(List.of()), environment);
	}

	private static void putPooled(Map<String, String> environment) {
		environment.put("SPRING_DATA_REDIS_LETTUCE_POOL_MAX_ACTIVE", "16");
		environment.put("SPRING_DATA_REDIS_LETTUCE_POOL_MAX_IDLE", "16");
		environment.put("SPRING_AUTOCONFIGURE_EXCLUDE", OBSERVATION);
	}

	private JavaServer start(String name, Class<?> main, Jvm jvm, List<String> libraries,
			Map<String, String> environment) {
		try {
			List<String> classPath = new ArrayList<>(List.of(classes(main).toString()));
			classPath.addAll(libraries);
			Map<String, String> all = new HashMap<>(this.bench.redis().address().toSpring());
			all.putAll(environment);
			return this.bench.launch(new Launch(name, jvm, List.of("-cp", String.join(File.pathSeparator, classPath),
					main.getName(), "--spring.profiles.active=" + FirstTryApplication.PROFILE), all));
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot prepare " + name, ex);
		}
	}

	/** The rivals' classes alone, lest they see what is on the harness's class path. */
	private Path classes(Class<?> main) throws IOException {
		Path target = this.directory.resolve("classes");
		String folder = main.getPackageName().replace('.', '/');
		Files.createDirectories(target.resolve(folder));
		Path source = Path.of(main.getProtectionDomain().getCodeSource().getLocation().getPath(), folder);
		try (Stream<Path> files = Files.list(source)) {
			for (Path file : files.toList()) {
				copy(Files.newInputStream(file), target.resolve(folder).resolve(file.getFileName().toString()));
			}
		}
		return target;
	}

	private List<String> libraries(List<String> without) {
		Path target = this.directory.resolve("lib");
		List<String> libraries = new ArrayList<>();
		try (JarFile jar = new JarFile(this.bench.jar().toFile())) {
			Files.createDirectories(target);
			for (JarEntry entry : jar.stream().toList()) {
				String name = entry.getName().substring(entry.getName().lastIndexOf('/') + 1);
				if (entry.getName().startsWith(LIBRARIES) && !name.isEmpty()
						&& Stream.of(NOT_IN_RIVALS, without).flatMap(List::stream).noneMatch(name::startsWith)) {
					copy(jar.getInputStream(entry), target.resolve(name));
					libraries.add(target.resolve(name).toString());
				}
			}
			return libraries;
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot read the libraries of " + this.bench.jar(), ex);
		}
	}

	private static void copy(InputStream from, Path to) throws IOException {
		try (from) {
			Files.write(to, from.readAllBytes());
		}
	}

}
