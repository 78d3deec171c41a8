package io.pipeset;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/** The memory limit of each deployment file is large enough for the image's JVM. */
class DeploymentFileTests {

	/**
	 * The memory that the JVM takes beside its heap and direct memory: 230 MB were
	 * measured, and the rest is a margin.
	 */
	private static final DataSize REST = DataSize.ofMegabytes(320);

	private static final Path BASE = Path.of("k8s", "base", "deployment.yaml");

	private static final Path OVERLAY = Path.of("k8s", "overlays", "development", "deployment.yaml");

	@ParameterizedTest
	@ValueSource(strings = { "requests", "limits" })
	void podsHaveTheMemoryThatTheJvmMayTake(String kind) throws IOException {
		DataSize base = Objects.requireNonNull(podMemory(BASE, kind));
		assertThat(base).isGreaterThanOrEqualTo(jvm());
		// An overlay without a limit keeps that of the base.
		DataSize overlay = podMemory(OVERLAY, kind);
		assertThat((overlay != null) ? overlay : base).isGreaterThanOrEqualTo(jvm());
	}

	@Test
	void theComposedServiceHasTheMemoryThatItsJvmMayTake() throws IOException {
		Object limit = at(load(Path.of("docker-compose.yml")), "services", "pipeset", "deploy", "resources", "limits",
				"memory");
		assertThat(size(Objects.requireNonNull(limit))).isGreaterThanOrEqualTo(jvm());
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
