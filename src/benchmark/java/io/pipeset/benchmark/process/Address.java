package io.pipeset.benchmark.process;

import java.util.Map;

/**
 * The address of a Redis, or of a proxy in front of it.
 *
 * @param port its port on 127.0.0.1
 * @param password of the default user
 */
public record Address(int port, String password) {

	/** The only host of a run. */
	public static final String HOST = "127.0.0.1";

	/**
	 * The same Redis through a proxy.
	 * @param proxyPort the proxy's port
	 * @return the address
	 */
	public Address through(int proxyPort) {
		return new Address(proxyPort, this.password);
	}

	/**
	 * The address as Spring Boot reads it.
	 * @return environment variables
	 */
	public Map<String, String> toSpring() {
		return Map.of("SPRING_DATA_REDIS_HOST", HOST, "SPRING_DATA_REDIS_PORT", String.valueOf(this.port),
				"SPRING_DATA_REDIS_PASSWORD", this.password);
	}

	@Override
	public String toString() {
		return HOST + ":" + this.port;
	}

}
