package io.pipeset.web.record;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.pipeset.Documentation;
import io.pipeset.dev.CarriedProgram;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.ProcessTest;
import io.pipeset.service.ServiceProcess;
import io.pipeset.service.Shell;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The recipes that set up a service for others bring up one with TLS on both sides, a
 * password of Redis and keys. A container is a process here, with the variables, the
 * command and the files that compose or Kubernetes gives it.
 */
@ProcessTest
class DeploymentRecipeTests {

	static final Set<String> RECIPES = Set.of("TLS, a password and keys", "The same with compose",
			"The same on Kubernetes");

	private static final String PAGE = "docs/recipes.md";

	private static final String POST_ONE = "curl -sS --cacert deploy/secrets/ca.crt"
			+ " -H 'Content-Type: text/plain' --data-binary 'SET key value' ";

	private static final String KEY = " -H \"Authorization: Bearer $(cat deploy/secrets/local.key)\" ";

	/** Waits until only the process is left that was there before. */
	private static final String ENDED = """

			for i in {1..600}; do
			  [ "$(jobs -pr)" = $own_pid ] && break
			  sleep 0.1
			done
			[ "$(jobs -pr)" = $own_pid ]
			""";

	/** Has a folder for each Secret, with a file for each of its entries. */
	private static final String KUBECTL = """
			case "$1 $2 $3" in
			  "create secret generic") ;;
			  "apply -f -") cat > /dev/null; exit ;;
			  *) exit ;;
			esac
			mkdir -p "secrets/$4"
			folder=secrets/$4
			shift 4
			for entry; do
			  name=${entry#*=}
			  case $entry in
			    --from-file=*) cp "${name#*=}" "$folder/${name%%=*}" ;;
			    --from-literal=*) printf %s "${name#*=}" > "$folder/${name%%=*}" ;;
			    *) echo "What is $entry?" >&2; exit 1 ;;
			  esac
			done
			""";

	/** A clone of the repository, but for its secrets. */
	@TempDir
	Path folder;

	@BeforeEach
	void copyFiles() throws IOException {
		for (String name : List.of("deploy", "k8s")) {
			FileSystemUtils.copyRecursively(Path.of(name), this.folder.resolve(name));
		}
		FileSystemUtils.deleteRecursively(this.folder.resolve("deploy/secrets"));
		Files.copy(Path.of("docker-compose.yml"), this.folder.resolve("docker-compose.yml"));
		Files.createDirectory(this.folder.resolve("bin"));
	}

	@Test
	void processesOfOnesOwn() throws Exception {
		program("mvn", "");
		program("redis-server", "exec '" + CarriedProgram.verified() + "' \"$@\"");
		program("java",
				"[ \"$1 $2\" = '-jar target/pipeset-1.0.0.jar' ]\nshift 2\nexec '"
						+ Path.of(System.getProperty("java.home"), "bin", "java") + "' '"
						+ String.join("' '", ServiceProcess.program()) + "' \"$@\" --pipeset.warm-up.enabled=false"
						+ " --pipeset.spool.directory='" + this.folder + "/spool'");
		boolean prometheus = new ProcessBuilder("sh", "-c", "command -v prometheus").start().waitFor() == 0;
		// Without Prometheus, the rest is run all the same.
		String commands = commands("TLS, a password and keys").stream()
			.filter((line) -> prometheus || Stream.of("prometheus ", "until curl -sS http://localhost:9095", "  jq -ec")
				.noneMatch(line::startsWith))
			.collect(Collectors.joining("\n"));
		String output = run(0,
				"trap 'kill $(jobs -p); wait' EXIT\nsleep 1000 &\nown_pid=$!\n"
						+ commands.replace("8443", Integer.toString(TestRedis.freePort()))
							.replace("6380", Integer.toString(TestRedis.freePort()))
							.replace("9095", Integer.toString(TestRedis.freePort()))
							.replace("1000000", "20000")
						+ ENDED);
		assertThat(output).contains("{\"received\":20000,\"applied\":20000,")
			.endsWith((prometheus) ? "[\"local\",\"SET\",\"20000\"]\n" : "\"unprocessed\":0}\n");
	}

	@Test
	void compose() throws Exception {
		List<String> commands = commands("The same with compose");
		int up = commands
			.indexOf(commands.stream().filter((line) -> line.startsWith("docker ")).findAny().orElseThrow());
		run(0, String.join("\n", commands.subList(0, up)));
		List<Object> files = new ArrayList<>();
		for (MatchResult file : Pattern.compile("-f (\\S+)").matcher(commands.get(up)).results().toList()) {
			files.add(load(file.group(1)));
		}
		assertThat(files).hasSize(2);
		Map<String, String> environment = image();
		files.forEach((file) -> map(at(file, "services", "pipeset", "environment"))
			.forEach((name, value) -> environment.put(name, interpolated(String.valueOf(value)))));
		assertNamed("deploy/secrets/redis.crt", environment.get("SPRING_DATA_REDIS_HOST"));
		Map<String, Path> own = secrets(files, "pipeset");
		environment.replaceAll((name, value) -> moved(value, own));
		Map<String, Path> ofRedis = secrets(files, "redis");
		List<String> redis = list(at(files.get(1), "services", "redis", "command")).stream()
			.map((word) -> moved(String.valueOf(word), ofRedis))
			.toList();
		try (Servers servers = new Servers(redis.subList(1, redis.size()), environment)) {
			assertThat(run(servers.port(), String.join("\n", commands.subList(up + 1, commands.size())))).isEqualTo(
					"{\"received\":1,\"applied\":1,\"noop\":0,\"rejected\":0,\"unknown\":0,\"unprocessed\":0}\n");
			assertNobodyElseMayCall(servers);
			run(0, healthCheck(servers));
			Object scrape = list(at(load("deploy/prometheus-tls.yml"), "scrape_configs")).get(0);
			Map<String, Path> ofPrometheus = secrets(files, "prometheus");
			Object target = list(at(list(at(scrape, "static_configs")).get(0), "targets")).get(0);
			assertScraped(servers, at(scrape, "scheme") + "://" + target + at(scrape, "metrics_path"),
					moved(String.valueOf(at(scrape, "tls_config", "ca_file")), ofPrometheus),
					moved(String.valueOf(at(scrape, "authorization", "credentials_file")), ofPrometheus));
		}
	}

	@Test
	void kubernetes() throws Exception {
		program("kubectl", KUBECTL);
		run(0, String.join("\n", commands("The same on Kubernetes")));
		Map<String, String> environment = image();
		for (String file : List.of("k8s/base/pipeset.env", "k8s/overlays/production/pipeset.env")) {
			Properties settings = new Properties();
			settings.load(Files.newBufferedReader(this.folder.resolve(file)));
			settings.forEach((name, value) -> environment.put(name.toString(), value.toString()));
		}
		assertNamed("deploy/secrets/redis.crt", environment.get("SPRING_DATA_REDIS_HOST"));
		Object pod = at(load("k8s/overlays/production/pod.yaml"), "spec", "template", "spec");
		Object container = list(at(pod, "containers")).get(0);
		for (Object source : list(at(container, "envFrom"))) {
			if (at(source, "secretRef", "name") instanceof String secret) {
				secret(secret).forEach((name, file) -> environment.put(name, Shell.text(file)));
			}
		}
		for (Object variable : list(at(container, "env"))) {
			Object source = at(variable, "valueFrom", "secretKeyRef");
			Path file = secret(String.valueOf(at(source, "name"))).get(String.valueOf(at(source, "key")));
			assertThat(file != null || Boolean.TRUE.equals(at(source, "optional"))).as("%s", variable).isTrue();
			if (file != null) {
				environment.put(String.valueOf(at(variable, "name")), Shell.text(file));
			}
		}
		Map<String, Path> mounted = mounted(pod, container);
		environment.replaceAll((name, value) -> moved(value, mounted));
		List<String> redis = List.of("deploy/secrets/redis.conf", "--port", "0", "--tls-port", "6379",
				"--tls-cert-file", "deploy/secrets/redis.crt", "--tls-key-file", "deploy/secrets/redis.key",
				"--tls-auth-clients", "no", "--save", "");
		try (Servers servers = new Servers(redis, environment)) {
			assertThat(run(0, POST_ONE + servers.as("https://pipeset/v1/jobs", servers.port()) + KEY))
				.contains("\"applied\":1,");
			assertNobodyElseMayCall(servers);
			Object scrape = list(at(load("k8s/overlays/production/servicemonitor.yaml"), "spec", "endpoints")).get(0);
			Object key = at(scrape, "authorization", "credentials");
			Object authority = at(scrape, "tlsConfig", "ca", "secret");
			assertScraped(servers,
					at(scrape, "scheme") + "://" + at(scrape, "tlsConfig", "serverName") + ":8081" + at(scrape, "path"),
					entry(authority), entry(key));
		}
	}

	private void assertNobodyElseMayCall(Servers servers) throws Exception {
		String call = POST_ONE + "-o /dev/null -w '%{http_code}' ";
		assertThat(run(0, call + "https://localhost:" + servers.port() + "/v1/jobs")).as("without a key")
			.isEqualTo("401");
		assertThat(run(0, call + KEY + "http://localhost:" + servers.port() + "/v1/jobs")).as("without TLS")
			.isEqualTo("400");
		assertThat(run(0, call + "https://localhost:" + servers.management + "/actuator/metrics")).as("without a key")
			.isEqualTo("401");
	}

	private void assertScraped(Servers servers, String url, String authority, String key) throws Exception {
		assertThat(run(0, "curl -sSf --cacert '" + authority + "' -H \"Authorization: Bearer $(cat '" + key + "')\" "
				+ servers.as(url, servers.management)))
			.contains("pipeset_records_total{client=");
	}

	private void assertNamed(String certificate, @Nullable String host) throws Exception {
		try (InputStream file = Files.newInputStream(this.folder.resolve(certificate))) {
			X509Certificate read = (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(file);
			assertThat(read.getSubjectAlternativeNames()).extracting((name) -> String.valueOf(name.get(1)))
				.contains(String.valueOf(host));
		}
	}

	/** The command by which the image looks at its health, for another port. */
	private static String healthCheck(Servers servers) throws IOException {
		String command = Files.readAllLines(Path.of("Dockerfile"))
			.stream()
			.filter((line) -> line.startsWith("    CMD ["))
			.map((line) -> line.substring("    CMD ".length()))
			.collect(Collectors.joining());
		String script = JsonMapper.shared().readTree(command).get(2).asString();
		return script.replace("8081", Integer.toString(servers.management));
	}

	/** The variables of the image, but for the flags of its machine. */
	private static Map<String, String> image() throws IOException {
		Map<String, String> variables = new HashMap<>();
		Pattern.compile("^ENV (\\w+)='?([^'\n]*)", Pattern.MULTILINE)
			.matcher(Files.readString(Path.of("Dockerfile")))
			.results()
			.forEach((variable) -> variables.put(variable.group(1), variable.group(2)));
		variables.remove("JAVA_TOOL_OPTIONS");
		assertThat(variables).containsKeys("SERVER_ADDRESS", "MANAGEMENT_SERVER_PORT");
		return variables;
	}

	/** The files of the secrets that a service of compose has, by their places there. */
	private Map<String, Path> secrets(List<Object> files, String service) {
		Map<String, Path> secrets = new HashMap<>();
		files.stream()
			.flatMap((file) -> list(at(file, "services", service, "secrets")).stream())
			.forEach((name) -> secrets.put("/run/secrets/" + name,
					this.folder.resolve(files.stream()
						.map((file) -> at(file, "secrets", String.valueOf(name), "file"))
						.filter(Objects::nonNull)
						.map(String::valueOf)
						.findAny()
						.orElseThrow())));
		return secrets;
	}

	/** The files of the Secrets that a pod mounts, by their places there. */
	private Map<String, Path> mounted(@Nullable Object pod, Object container) {
		Map<String, Path> mounted = new HashMap<>();
		for (Object mount : list(at(container, "volumeMounts"))) {
			Object volume = list(at(pod, "volumes")).stream()
				.filter((one) -> Objects.equals(at(one, "name"), at(mount, "name")))
				.findAny()
				.orElseThrow();
			Map<String, Path> secret = secret(String.valueOf(at(volume, "secret", "secretName")));
			List<?> items = list(at(volume, "secret", "items"));
			secret.forEach((name, file) -> {
				if (items.isEmpty() || items.stream().anyMatch((item) -> name.equals(at(item, "key")))) {
					mounted.put(at(mount, "mountPath") + "/" + name, file);
				}
			});
		}
		return mounted;
	}

	/** The entries of a Secret that the recipe has made. */
	private Map<String, Path> secret(String name) {
		try (Stream<Path> files = Files.list(this.folder.resolve("secrets").resolve(name))) {
			return files.collect(Collectors.toMap((file) -> file.getFileName().toString(), (file) -> file));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private String entry(@Nullable Object reference) {
		return String.valueOf(secret(String.valueOf(at(reference, "name"))).get(String.valueOf(at(reference, "key"))));
	}

	/** A path of a container as one of this machine. */
	private static String moved(String value, Map<String, Path> files) {
		if (value.startsWith("/run/") || value.startsWith("/etc/")) {
			assertThat(files).containsKey(value);
			assertThat(files.get(value)).exists();
			return String.valueOf(files.get(value));
		}
		return value;
	}

	/** A value with the variables that the scripts have written for compose. */
	private String interpolated(String value) {
		return Pattern.compile("\\$\\{(\\w+):\\?[^}]*}").matcher(value).replaceAll((variable) -> {
			String line = Shell.text(this.folder.resolve(".env"))
				.lines()
				.filter((one) -> one.startsWith(variable.group(1) + "="))
				.findAny()
				.orElseThrow();
			return line.substring(line.indexOf('=') + 1);
		});
	}

	private static List<String> commands(String recipe) throws IOException {
		return Documentation.commands(PAGE, "## " + recipe);
	}

	private String run(int port, String commands) throws Exception {
		return new Shell(this.folder, port).run("PATH=\"$PWD/bin:$PATH\"\n" + commands);
	}

	private void program(String name, String script) throws IOException {
		Path file = Files.writeString(this.folder.resolve("bin").resolve(name), "#!/bin/sh\nset -eu\n" + script + "\n");
		assertThat(file.toFile().setExecutable(true)).isTrue();
	}

	private Object load(String file) throws IOException {
		return new Yaml().load(Files.readString(this.folder.resolve(file)));
	}

	private static @Nullable Object at(@Nullable Object node, String... path) {
		Object found = node;
		for (String name : path) {
			found = (found instanceof Map<?, ?> map) ? map.get(name) : null;
		}
		return found;
	}

	private static Map<String, Object> map(@Nullable Object node) {
		Map<String, Object> map = new HashMap<>();
		((Map<?, ?>) Objects.requireNonNull(node)).forEach((name, value) -> map.put(String.valueOf(name), value));
		return map;
	}

	private static List<?> list(@Nullable Object node) {
		return (node != null) ? (List<?>) node : List.of();
	}

	/** A Redis and a service, each at ports of its own. */
	private final class Servers implements AutoCloseable {

		private final int management = TestRedis.freePort();

		private final Process redis;

		private final ServiceProcess service;

		private Servers(List<String> arguments, Map<String, String> environment) throws Exception {
			String port = Integer.toString(TestRedis.freePort());
			List<String> command = new ArrayList<>(List.of(CarriedProgram.verified().toString()));
			command.addAll(arguments);
			command.set(command.indexOf("--tls-port") + 1, port);
			this.redis = new ProcessBuilder(command).directory(DeploymentRecipeTests.this.folder.toFile())
				.redirectErrorStream(true)
				.redirectOutput(DeploymentRecipeTests.this.folder.resolve("redis.log").toFile())
				.start();
			Map<String, String> variables = new HashMap<>(environment);
			variables.put("SPRING_DATA_REDIS_HOST", "localhost");
			variables.put("SPRING_DATA_REDIS_PORT", port);
			variables.put("MANAGEMENT_SERVER_PORT", Integer.toString(this.management));
			variables.remove("PIPESET_SPOOL_DIRECTORY");
			try {
				await().ignoreExceptionsInstanceOf(IOException.class).until(() -> {
					try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(port))) {
						return socket.isConnected();
					}
				});
				this.service = ServiceProcess.start(variables);
			}
			catch (Exception ex) {
				this.redis.destroy();
				throw ex;
			}
		}

		private int port() {
			return this.service.service().port();
		}

		/** The arguments of curl by which it calls one of these ports by another name. */
		private String as(String url, int port) {
			return "--connect-to ::127.0.0.1:" + port + " " + url;
		}

		@Override
		public void close() {
			this.service.close();
			this.redis.destroy();
		}

	}

}
