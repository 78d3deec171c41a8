package io.pipeset.web.document;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.pipeset.job.ClientsProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.stereotype.Component;

/**
 * The security schemes of this service in the OpenAPI document: a key, a certificate, or
 * both if every connection needs a certificate.
 */
@Component
class SecuritySchemes {

	private static final String KEY = "key";

	private static final String CERTIFICATE = "certificate";

	private static final Map<String, Object> SCHEMES = Map.of(KEY,
			Map.of("type", "http", "scheme", "bearer", "description",
					"The key of a client. Its hash is in `pipeset.clients.<name>.key-sha256`."),
			CERTIFICATE, Map.of("type", "mutualTLS", "description",
					"The certificate of a client. Its subject is in `pipeset.clients.<name>.certificate`."));

	/** The security requirements. A request has to meet one of them. */
	private final List<Map<String, Object>> requirements = new ArrayList<>();

	SecuritySchemes(ClientsProperties clients, ObjectProvider<ServerProperties> server) {
		if (clients.clients().values().stream().anyMatch((client) -> !client.keySha256().isEmpty())) {
			boolean needed = server.stream().anyMatch((properties) -> isNeeded(properties.getSsl()));
			// A sorted map, so that the document is the same after each start.
			this.requirements
				.add(new TreeMap<>((needed) ? Map.of(KEY, List.of(), CERTIFICATE, List.of()) : Map.of(KEY, List.of())));
		}
		if (clients.clients().values().stream().anyMatch((client) -> client.certificate() != null)) {
			this.requirements.add(Map.of(CERTIFICATE, List.of()));
		}
	}

	private static boolean isNeeded(@Nullable Ssl ssl) {
		return Ssl.isEnabled(ssl) && ssl.getClientAuth() == Ssl.ClientAuth.NEED;
	}

	/** Adds the schemes to the document, unless callers need none. */
	void addTo(Map<String, Object> document, Map<String, Object> components) {
		if (!this.requirements.isEmpty()) {
			Map<String, Object> schemes = new TreeMap<>();
			this.requirements
				.forEach((requirement) -> requirement.keySet().forEach((name) -> schemes.put(name, SCHEMES.get(name))));
			components.put("securitySchemes", schemes);
			document.put("security", this.requirements);
		}
	}

}
