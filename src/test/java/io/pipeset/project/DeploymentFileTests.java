package io.pipeset.project;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.engine.pipeline.PipelineProperties;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

import org.springframework.boot.autoconfigure.ssl.PemSslBundleProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.mock.env.MockEnvironment;
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

	private static final Path PARTS = Path.of("k8s", "jobs", "load-parts");

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

	@Test
	void composedServicesHaveClientsAndAreNotAnonymous() throws IOException {
		for (String service : List.of("pipeset", "pipeset-cluster")) {
			Map<?, ?> environment = (Map<?, ?>) Objects.requireNonNull(at(compose(), service, "environment"));
			assertThat(environment.get("PIPESET_CLIENTS_LOCAL_KEYSHA256")).asString()
				.startsWith("${KEY_SHA256_LOCAL:?");
			assertThat(environment.get("PIPESET_CLIENTS_PROMETHEUS_KEYSHA256")).asString()
				.startsWith("${KEY_SHA256_PROMETHEUS:?");
			assertThat(environment.get("PIPESET_CLIENTS_PROMETHEUS_OPERATIONS")).isEqualTo("");
			assertThat(environment.containsKey("PIPESET_SECURITY_ANONYMOUS")).isFalse();
		}
	}

	@Test
	void newKeysAreThoseWhoseHashesComposeReads(@TempDir Path directory) throws Exception {
		Path script = Files.createDirectories(directory.resolve("deploy")).resolve("new-keys.sh");
		Files.copy(Path.of("deploy", "new-keys.sh"), script, StandardCopyOption.COPY_ATTRIBUTES);
		Files.writeString(directory.resolve(".env"), "MINE=1\nKEY_SHA256_LOCAL=old\n");
		Process process = new ProcessBuilder("sh", script.toString(), "stock-feed").redirectErrorStream(true).start();
		assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
			.contains("Authorization: Bearer");
		assertThat(process.waitFor()).isZero();
		assertThat(Files.readAllLines(directory.resolve(".env"))).containsExactly("MINE=1",
				"KEY_SHA256_LOCAL=" + hash(directory.resolve("deploy/secrets/local.key")),
				"KEY_SHA256_PROMETHEUS=" + hash(directory.resolve("deploy/secrets/prometheus.key")),
				"KEY_SHA256_STOCK_FEED=" + hash(directory.resolve("deploy/secrets/stock-feed.key")),
				"REDIS_PASSWORD=" + Files.readString(directory.resolve("deploy/secrets/redis.conf"))
					.replaceAll("requirepass |\n", ""));
	}

	private static String hash(Path key) throws Exception {
		byte[] bytes = Files.readAllBytes(key);
		assertThat(new String(bytes, StandardCharsets.US_ASCII)).matches("[0-9a-f]{64}");
		return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
	}

	/** Else a web page could give a name of its own the address of the service. */
	@Test
	void onlyTheOverlayForDevelopmentIsAnonymousAndIsCalledByAListedName() throws IOException {
		Object service = at(load(Path.of("k8s", "base", "service.yaml")), "metadata", "name");
		try (Stream<Path> files = Files.walk(Path.of("k8s"))) {
			Path development = OVERLAYS.resolve(Path.of("development", "kustomization.yaml"));
			assertThat(files.filter(Files::isRegularFile)).allSatisfy((file) -> {
				boolean anonymous = Files.readAllLines(file)
					.stream()
					.anyMatch((line) -> line.matches(" *(- )?PIPESET_SECURITY_ANONYMOUS=true"));
				assertThat(anonymous).isEqualTo(file.equals(development));
			});
			assertThat(Files.readAllLines(development))
				.anyMatch((line) -> line.endsWith("- PIPESET_SECURITY_ALLOWEDHOSTS=" + service));
		}
		Object containers = at(load(BASE), "spec", "template", "spec", "containers");
		assertThat(at(((List<?>) Objects.requireNonNull(containers)).get(0), "envFrom")).asString()
			.contains("pipeset-clients");
	}

	@Test
	void theImageGeneratesNoRecordsForClients() throws IOException {
		String value = Files.readAllLines(Path.of("Dockerfile"))
			.stream()
			.filter((line) -> line.startsWith("ENV PIPESET_GENERATED_ENABLED='"))
			.map((line) -> line.substring(line.indexOf('\'') + 1, line.length() - 1))
			.collect(Collectors.joining());
		MockEnvironment image = new MockEnvironment();
		assertThat(image.resolveRequiredPlaceholders(value)).isEqualTo("false");
		image.setProperty("pipeset.security.anonymous", "true");
		assertThat(image.resolveRequiredPlaceholders(value)).isEqualTo("true");
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
	void inProductionBothSidesHaveTlsByFilesThatThePodMounts() throws IOException {
		Path production = OVERLAYS.resolve("production");
		Map<String, Object> variables = new HashMap<>();
		for (String line : Files.readAllLines(production.resolve("pipeset.env"))) {
			if (!line.startsWith("#")) {
				variables.put(line.replaceFirst("=.*", ""), line.replaceFirst(".*?=", ""));
			}
		}
		Binder settings = new Binder(ConfigurationPropertySource.from(new SystemEnvironmentPropertySource(
				StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables)));
		Map<String, PemSslBundleProperties> bundles = settings
			.bind("spring.ssl.bundle.pem", Bindable.mapOf(String.class, PemSslBundleProperties.class))
			.get();
		assertThat(bundles).containsOnlyKeys(settings.bind("server.ssl.bundle", String.class).get(),
				settings.bind("spring.data.redis.ssl.bundle", String.class).get());
		Object pod = at(load(production.resolve("pod.yaml")), "spec", "template", "spec");
		Object container = ((List<?>) Objects.requireNonNull(at(pod, "containers"))).get(0);
		List<Path> mounts = ((List<?>) Objects.requireNonNull(at(container, "volumeMounts"))).stream()
			.map((mount) -> Path.of(String.valueOf(at(mount, "mountPath"))))
			.toList();
		List<String> files = bundles.values()
			.stream()
			.flatMap((bundle) -> Stream.of(bundle.getTruststore().getCertificate(),
					bundle.getKeystore().getCertificate(), bundle.getKeystore().getPrivateKey()))
			.filter(Objects::nonNull)
			.toList();
		assertThat(files).hasSize(3).allSatisfy((file) -> assertThat(mounts).contains(Path.of(file).getParent()));
		assertThat(bundles.values()).allSatisfy((bundle) -> assertThat(bundle.isReloadOnUpdate()).isTrue());
		for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
			assertThat(at(container, probe, "httpGet", "scheme")).isEqualTo("HTTPS");
		}
	}

	/** Patches of overlays have no image. */
	@Test
	void eachPodIsConfined() throws IOException {
		Map<Path, Map<?, ?>> pods = new TreeMap<>();
		try (Stream<Path> files = Files.walk(Path.of("k8s"))) {
			for (Path file : files.filter((path) -> path.toString().endsWith(".yaml")).toList()) {
				for (Object document : new Yaml().loadAll(Files.readString(file))) {
					if (at(document, "spec", "template", "spec") instanceof Map<?, ?> pod
							&& at(((List<?>) Objects.requireNonNull(at(pod, "containers"))).get(0), "image") != null) {
						pods.put(file, pod);
					}
				}
			}
		}
		assertThat(pods).containsOnlyKeys(BASE, OVERLAYS.resolve(Path.of("development", "redis.yaml")),
				PARTS.resolve("job.yaml"));
		pods.forEach((file, pod) -> {
			assertThat(at(pod, "automountServiceAccountToken")).as("%s", file).isEqualTo(false);
			assertThat(at(pod, "enableServiceLinks")).as("%s", file).isEqualTo(false);
			assertThat(at(pod, "securityContext", "runAsNonRoot")).as("%s", file).isEqualTo(true);
			assertThat(at(pod, "securityContext", "seccompProfile", "type")).as("%s", file).isEqualTo("RuntimeDefault");
			for (Object container : (List<?>) Objects.requireNonNull(at(pod, "containers"))) {
				assertThat(at(container, "securityContext")).as("%s", file)
					.isEqualTo(Map.of("allowPrivilegeEscalation", false, "readOnlyRootFilesystem", true, "capabilities",
							Map.of("drop", List.of("ALL"))));
				for (String kind : List.of("requests", "limits")) {
					assertThat((Map<?, ?>) at(container, "resources", kind)).as("%s", file).hasSize(2);
				}
				// Kustomize gives the service's own image its tag.
				assertThat(at(container, "image")).as("%s", file).asString().matches("pipeset|.+:\\d+\\.\\d.*");
			}
		});
	}

	@Test
	void podsThatLoadPartsReachTheServiceAndNothingElse() throws IOException {
		Object labels = at(load(PARTS.resolve("job.yaml")), "spec", "template", "metadata", "labels");
		Object ingress = at(load(Path.of("k8s", "base", "networkpolicy.yaml")), "spec", "ingress");
		Object callers = at(((List<?>) Objects.requireNonNull(ingress)).get(0), "from");
		Map<?, ?> named = (Map<?, ?>) Objects
			.requireNonNull(at(((List<?>) Objects.requireNonNull(callers)).get(0), "podSelector", "matchLabels"));
		assertThat(named).isNotEmpty()
			.allSatisfy((label, value) -> assertThat(at(labels, label.toString())).isEqualTo(value));
		Object policy = load(PARTS.resolve("networkpolicy.yaml"));
		assertThat(at(policy, "spec", "podSelector", "matchLabels", "app.kubernetes.io/name"))
			.isEqualTo(at(labels, "app.kubernetes.io/name"));
		assertThat(at(policy, "spec", "policyTypes")).isEqualTo(List.of("Ingress", "Egress"));
		assertThat(at(policy, "spec", "ingress")).isNull();
		List<?> egress = (List<?>) Objects.requireNonNull(at(policy, "spec", "egress"));
		Object service = at(load(BASE), "spec", "selector", "matchLabels");
		assertThat(egress).hasSize(2).allSatisfy((rule) -> {
			Object to = ((List<?>) Objects.requireNonNull(at(rule, "to"))).get(0);
			assertThat(Objects.equals(at(to, "podSelector", "matchLabels"), service) || Objects
				.equals(at(to, "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name"), "kube-system"))
				.isTrue();
		});
	}

	@Test
	void readinessIsWaitedForLongerThanForAConnection() throws IOException {
		Object containers = at(load(BASE), "spec", "template", "spec", "containers");
		Object seconds = at(((List<?>) Objects.requireNonNull(containers)).get(0), "readinessProbe", "timeoutSeconds");
		Duration connecting = new Binder().bindOrCreate("pipeset.pipeline", PipelineProperties.class).connectTimeout();
		assertThat(Duration.ofSeconds(((Number) Objects.requireNonNull(seconds)).longValue()))
			.isGreaterThan(connecting);
	}

	@Test
	void eachFileThatComposeMountsIsThere() throws IOException {
		Map<?, ?> services = (Map<?, ?>) Objects.requireNonNull(compose());
		List<String> mounts = services.values()
			.stream()
			.flatMap((service) -> (at(service, "volumes") instanceof List<?> volumes) ? volumes.stream()
					: Stream.empty())
			.map((mount) -> mount.toString().replaceFirst(":.*", ""))
			.toList();
		assertThat(mounts).hasSizeGreaterThan(4).allSatisfy((mount) -> assertThat(Path.of(mount)).exists());
	}

	@Test
	void prometheusLooksByTlsAtAllThatItLooksAtWithoutIt() throws IOException {
		assertThat(Files.readAllLines(Path.of("deploy", "prometheus-tls.yml"))
			.stream()
			.filter((line) -> !line.startsWith("#") && !line.matches(" +(scheme|tls_config|ca_file):.*")))
			.containsExactlyElementsOf(Files.readAllLines(Path.of("deploy", "prometheus.yml")));
	}

	/** A runbook that nobody finds is none, and a rule without a test is a guess. */
	@Test
	void eachAlertHasASectionInTheOperatorsPageAndATest() throws IOException {
		List<?> groups = (List<?>) Objects.requireNonNull(at(load(Path.of("deploy", "alerts.yml")), "groups"));
		Map<String, String> runbooks = new TreeMap<>();
		for (Object rule : (List<?>) Objects.requireNonNull(at(groups.get(0), "rules"))) {
			runbooks.put(String.valueOf(at(rule, "alert")), String.valueOf(at(rule, "annotations", "runbook")));
		}
		assertThat(runbooks).hasSizeGreaterThan(10);
		runbooks.forEach((alert, runbook) -> assertThat(runbook)
			.isEqualTo("docs/operations.md#" + alert.toLowerCase(Locale.ROOT)));
		assertThat(Files.readAllLines(Path.of("docs", "operations.md"))
			.stream()
			.filter((line) -> line.startsWith("### Pipeset"))
			.map((line) -> line.substring(4))).containsExactlyInAnyOrderElementsOf(runbooks.keySet());
		Set<String> tested = new TreeSet<>();
		List<?> tests = (List<?>) Objects.requireNonNull(at(load(Path.of("deploy", "alerts-test.yml")), "tests"));
		for (Object test : tests) {
			if (at(test, "alert_rule_test") instanceof List<?> alerts) {
				alerts.stream()
					.filter((alert) -> at(alert, "exp_alerts") != null)
					.forEach((alert) -> tested.add(String.valueOf(at(alert, "alertname"))));
			}
		}
		assertThat(tested).isEqualTo(runbooks.keySet());
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
