package io.pipeset.web.server;

import java.util.TreeSet;

import io.pipeset.request.ClientsProperties;
import io.pipeset.request.GeneratedProperties;
import io.pipeset.request.SecurityProperties;
import io.pipeset.web.console.ConsoleProperties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** Logs who may call and a command to try, when the service is ready. */
@Component
class StartMessage {

	private static final Logger log = LoggerFactory.getLogger(StartMessage.class);

	private final ClientsProperties clients;

	private final GeneratedProperties generated;

	private final SecurityProperties security;

	private final ConsoleProperties console;

	private final ObjectProvider<ServerProperties> server;

	StartMessage(ClientsProperties clients, GeneratedProperties generated, SecurityProperties security,
			ConsoleProperties console, ObjectProvider<ServerProperties> server) {
		this.generated = generated;
		this.clients = clients;
		this.security = security;
		this.console = console;
		this.server = server;
	}

	@EventListener
	void logWhenReady(ApplicationReadyEvent event) {
		if (event.getApplicationContext() instanceof WebServerApplicationContext context
				&& context.getWebServer() != null) {
			log.info("Callers: {}", callers());
			if (this.console.enabled()) {
				log.info("Console: {}://localhost:{}/console", scheme(), context.getWebServer().getPort());
			}
			log.info("Ready. Try: curl{} -X POST {}://localhost:{}{}{}",
					(scheme().equals("https")) ? " --cacert ca.crt" : "", scheme(), context.getWebServer().getPort(),
					(this.generated.enabled()) ? "/pipeset/1000"
							: "/v1/jobs -H 'Content-Type: text/plain' --data-binary 'SET key value'",
					(this.clients.isEmpty()) ? "" : " -H \"Authorization: Bearer $KEY\"");
		}
	}

	private String scheme() {
		return this.server.stream().anyMatch((properties) -> Ssl.isEnabled(properties.getSsl())) ? "https" : "http";
	}

	private String callers() {
		if (!this.clients.isEmpty()) {
			boolean certificates = this.clients.clients()
				.values()
				.stream()
				.anyMatch((client) -> client.certificate() != null);
			return "the clients " + String.join(", ", new TreeSet<>(this.clients.clients().keySet()))
					+ ", with their keys" + ((certificates) ? " or certificates" : "");
		}
		return (this.security.anonymous())
				? "everybody who reaches the port, without a key (pipeset.security.anonymous=true)"
				: "this machine only, without a key";
	}

}
