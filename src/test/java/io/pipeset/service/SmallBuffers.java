package io.pipeset.service;

import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.event.EventListener;

/**
 * Gives the connections of all web servers small buffers in the kernel, which would
 * otherwise take megabytes of an answer that nobody reads.
 */
@TestConfiguration(proxyBeanMethods = false)
public class SmallBuffers {

	@EventListener
	void limit(WebServerInitializedEvent event) {
		((TomcatWebServer) event.getWebServer()).getTomcat().getConnector().setProperty("socket.txBufSize", "4096");
	}

}
