package io.pipeset.redis;

import java.io.IOException;
import java.io.Reader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Properties;
import java.util.Set;

/**
 * Looks for a Docker engine at the addresses that Testcontainers tries. Testcontainers
 * itself takes long, and logs many lines, until it says that there is none.
 */
final class DockerEngine {

	private static final int TIMEOUT_MILLIS = 1000;

	private DockerEngine() {
	}

	/**
	 * The addresses at which an engine may listen.
	 */
	static Set<String> addresses() {
		Set<String> addresses = new LinkedHashSet<>();
		String variable = System.getenv("DOCKER_HOST");
		if (variable != null && !variable.isBlank()) {
			addresses.add(variable);
			return addresses;
		}
		String home = System.getProperty("user.home", "");
		String configured = testcontainersHost(Path.of(home, ".testcontainers.properties"));
		if (!configured.isBlank()) {
			addresses.add(configured);
		}
		addresses.add("unix:///var/run/docker.sock");
		String runtime = System.getenv("XDG_RUNTIME_DIR");
		if (runtime != null && !runtime.isBlank()) {
			addresses.add("unix://" + runtime + "/docker.sock");
		}
		addresses.add("unix://" + home + "/.docker/run/docker.sock");
		addresses.add("unix://" + home + "/.docker/desktop/docker.sock");
		return addresses;
	}

	static boolean answers() {
		return addresses().stream().anyMatch(DockerEngine::answers);
	}

	static boolean answers(String address) {
		try {
			URI uri = URI.create(address);
			if ("unix".equals(uri.getScheme())) {
				try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
					return channel.connect(UnixDomainSocketAddress.of(uri.getPath()));
				}
			}
			try (Socket socket = new Socket()) {
				socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()), TIMEOUT_MILLIS);
				return true;
			}
		}
		catch (IOException | IllegalArgumentException ex) {
			return false;
		}
	}

	private static String testcontainersHost(Path file) {
		Properties properties = new Properties();
		if (Files.isReadable(file)) {
			try (Reader reader = Files.newBufferedReader(file)) {
				properties.load(reader);
			}
			catch (IOException ex) {
				return "";
			}
		}
		return properties.getProperty("docker.host", "");
	}

}
