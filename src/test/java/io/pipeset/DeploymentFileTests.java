package io.pipeset;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.pipeset.pipeline.PipelineProperties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/** The deployment files agree with the image's JVM, and with the service's settings. */
class DeploymentFileTests {

	/**
	 * The memory that the JVM takes beside its heap and direct memory: 230 MB were
	 * measured, and the rest is a margin.
	 */
	private static final DataSize REST = DataSize.ofMegabytes(320);

	private static final Path BASE = Path.of("k8s", "base", "deployment.yaml");

	private static final Path OVERLAYS = Path.of("k8s", "overlays");

	@ParameterizedTest
	@CsvSource({ "development, requests", "development, limits", "cluster, requests", "cluster, limits" })
	void podsHaveTheMemoryThatTheJvmMayTake(String overlay, String kind) throws IOException {
		DataSize base = Objects.requireNonNull(podMemory(BASE, kind));
		assertThat(base).isGreaterThanOrEqualTo(jvm());
		// An overlay without a limit keeps that of the base.
		DataSize own = podMemory(OVERLAYS.resolve(overlay).resolve("deployment.yaml"), kind);
		assertThat((own != null) ? own : base).isGreaterThanOrEqualTo(jvm());
	}

	@ParameterizedTest
	@ValueSource(strings = { "pipeset", "pipeset-cluster" })
	void theComposedServiceHasTheMemoryThatItsJvmMayTake(String service) throws IOException {
		Object limit = at(compose(), service, "deploy", "resources", "limits", "memory");
		assertThat(size(Objects.requireNonNull(limit))).isGreaterThanOrEqualTo(jvm());
	}

	/** Else a web page could give a name of its own the address of the service. */
	@Test
	void whoeverCallsWithoutCredentialsCallsByAListedName() throws IOException {
		Map<?, ?> services = (Map<?, ?>) Objects.requireNonNull(compose());
		assertThat(services.keySet()).filteredOn((name) -> isAnonymous(services, name))
			.hasSize(2)
			.allSatisfy(
					(name) -> assertThat(at(services, name.toString(), "environment", "PIPESET_SECURITY_ALLOWEDHOSTS"))
						.isEqualTo(name));
		Object service = at(load(Path.of("k8s", "base", "service.yaml")), "metadata", "name");
		try (Stream<Path> files = Files.walk(Path.of("k8s"))) {
			assertThat(files.filter((file) -> file.endsWith("pipeset.env"))).hasSize(2)
				.allSatisfy((file) -> assertThat(Files.readAllLines(file)).contains("PIPESET_SECURITY_ANONYMOUS=true",
						"PIPESET_SECURITY_ALLOWEDHOSTS=" + service));
		}
	}

	private static boolean isAnonymous(Map<?, ?> services, Object name) {
		return at(services, name.toString(), "environment", "PIPESET_SECURITY_ANONYMOUS") != null;
	}

	@Test
	void onlyTheProfileStartsTheComposedCluster() throws IOException {
		Map<?, ?> services = (Map<?, ?>) Objects.requireNonNull(compose());
		List<?> nodes = (List<?>) Objects.requireNonNull(at(services, "redis-cluster", "command"));
		assertThat(nodes).hasSize(6).allSatisfy((node) -> {
			String name = node.toString().replace(":6379", "");
			assertThat(at(services, name, "profiles")).isEqualTo(List.of("cluster"));
			assertThat(at(services, "redis-cluster", "depends_on", name, "condition")).isEqualTo("service_healthy");
		});
		assertThat(at(services, "redis-cluster", "profiles")).isEqualTo(List.of("cluster"));
		assertThat(at(services, "pipeset-cluster", "profiles")).isEqualTo(List.of("cluster"));
		Object seeds = at(services, "pipeset-cluster", "environment", "SPRING_DATA_REDIS_CLUSTER_NODES");
		assertThat(List.<Object>copyOf(nodes)).containsAll(List.of(String.valueOf(seeds).split(",")));
	}

	/** The service refuses to start with both. */
	@Test
	void aClusterIsNamedWithoutASingleRedis() throws IOException {
		List<String> names = Files.readAllLines(OVERLAYS.resolve(Path.of("cluster", "pipeset.env")))
			.stream()
			.map((line) -> line.replaceFirst("=.*", ""))
			.toList();
		assertThat(names).contains("SPRING_DATA_REDIS_CLUSTER_NODES")
			.doesNotContain("SPRING_DATA_REDIS_HOST", "SPRING_DATA_REDIS_PORT");
		assertThat(at(compose(), "pipeset-cluster", "environment", "SPRING_DATA_REDIS_HOST")).isNull();
	}

	@Test
	void readinessIsWaitedForLongerThanForAConnection() throws IOException {
		Object containers = at(load(BASE), "spec", "template", "spec", "containers");
		Object seconds = at(((List<?>) Objects.requireNonNull(containers)).get(0), "readinessProbe", "timeoutSeconds");
		Duration connecting = new Binder().bindOrCreate("pipeset.pipeline", PipelineProperties.class).connectTimeout();
		assertThat(Duration.ofSeconds(((Number) Objects.requireNonNull(seconds)).longValue()))
			.isGreaterThan(connecting);
	}

	private static @Nullable Object compose() throws IOException {
		return at(load(Path.of("docker-compose.yml")), "services");
	}

	private static DataSize jvm() throws IOException {
		String dockerfile = Files.readString(Path.of("Dockerfile"));
		return DataSize.ofBytes(flag("-Xmx", dockerfile).toBytes()
				+ flag("-XX:MaxDirectMemorySize=", dockerfile).toBytes() + REST.toBytes());
	}

	private static DataSize flag(String name, String dockerfile) {
		Matcher flag = Pattern.compile(Pattern.quote(name) + "(\\d+[mMgG])").matcher(dockerfile);
		assertThat(flag.find()).as(name).isTrue();
		return size(flag.group(1));
	}

	private static @Nullable DataSize podMemory(Path file, String kind) throws IOException {
		Object containers = at(load(file), "spec", "template", "spec", "containers");
		Object memory = at(((List<?>) Objects.requireNonNull(containers)).get(0), "resources", kind, "memory");
		return (memory != null) ? size(memory) : null;
	}

	private static Object load(Path file) throws IOException {
		return new Yaml().load(Files.readString(file));
	}

	private static @Nullable Object at(@Nullable Object node, String... path) {
		Object found = node;
		for (String name : path) {
			found = (found instanceof Map<?, ?> map) ? map.get(name) : null;
		}
		return found;
	}

	private static DataSize size(Object text) {
		String upper = text.toString().toUpperCase(Locale.ROOT).replace("I", "");
		return DataSize.parse((upper.endsWith("B")) ? upper : upper + "B");
	}

}
