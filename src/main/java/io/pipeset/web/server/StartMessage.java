package io.pipeset.web.server;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** Logs a command to try when the service is ready. */
@Component
class StartMessage {

	private static final Logger log = LoggerFactory.getLogger(StartMessage.class);

	@EventListener
	void ready(ApplicationReadyEvent event) {
		if (event.getApplicationContext() instanceof WebServerApplicationContext context
				&& context.getWebServer() != null) {
			log.info("Ready. Try: curl -X POST http://localhost:{}/pipeset/1000", context.getWebServer().getPort());
		}
	}

}
