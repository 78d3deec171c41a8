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
 * The ways to be a client of this service, as the document names them: by a key, by a
 * certificate, or by both where nobody connects without a certificate.
 */
@Component
class SecuritySchemes {

	private static final String KEY = "key";

	private static final String CERTIFICATE = "certificate";

	private static final Map<String, Object> SCHEMES = Map.of(KEY,
			Map.of("type", "http", "scheme", "bearer", "description",
					"The key of a client, whose hash stands at `pipeset.clients.<name>.key-sha256`."),
			CERTIFICATE, Map.of("type", "mutualTLS", "description",
					"The certificate of a client, whose subject stands at `pipeset.clients.<name>.certificate`."));

	/** Each of them is enough. */
	private final List<Map<String, Object>> ways = new ArrayList<>();

	SecuritySchemes(ClientsProperties clients, ObjectProvider<ServerProperties> server) {
		if (clients.clients().values().stream().anyMatch((client) -> !client.keySha256().isEmpty())) {
			boolean needed = server.stream().anyMatch((properties) -> isNeeded(properties.getSsl()));
			// In an order of their own, as the document is the same at each start.
			this.ways
				.add(new TreeMap<>((needed) ? Map.of(KEY, List.of(), CERTIFICATE, List.of()) : Map.of(KEY, List.of())));
		}
		if (clients.clients().values().stream().anyMatch((client) -> client.certificate() != null)) {
			this.ways.add(Map.of(CERTIFICATE, List.of()));
		}
	}

	private static boolean isNeeded(@Nullable Ssl ssl) {
		return Ssl.isEnabled(ssl) && ssl.getClientAuth() == Ssl.ClientAuth.NEED;
	}

	/** Writes them into the document, unless nobody is asked for any. */
	void addTo(Map<String, Object> document, Map<String, Object> components) {
		if (!this.ways.isEmpty()) {
			Map<String, Object> schemes = new TreeMap<>();
			this.ways.forEach((way) -> way.keySet().forEach((name) -> schemes.put(name, SCHEMES.get(name))));
			components.put("securitySchemes", schemes);
			document.put("security", this.ways);
		}
	}

}
