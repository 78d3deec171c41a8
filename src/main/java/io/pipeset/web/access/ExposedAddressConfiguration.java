package io.pipeset.web.access;

import java.net.InetAddress;

import io.pipeset.request.ClientsProperties;
import io.pipeset.request.RefusedAccessException;
import io.pipeset.request.SecurityProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * Fails the start if other machines could reach the service while callers need no keys.
 * The component scan finds this configuration for the main server. A file in
 * {@code META-INF/spring} registers it again for the server of Actuator, which exists if
 * {@code management.server.port} is set.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class ExposedAddressConfiguration {

	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> loopbackOnly(SecurityProperties security,
			ClientsProperties clients, ApplicationContext context) {
		String property = (WebServerApplicationContext.hasServerNamespace(context, "management"))
				? "management.server.address" : "server.address";
		return (factory) -> {
			if (!security.anonymous() && clients.isEmpty()) {
				requireLoopback(property, factory.getAddress());
			}
		};
	}

	private static void requireLoopback(String property, @Nullable InetAddress address) {
		if (address == null || !address.isLoopbackAddress()) {
			throw new RefusedAccessException(property
					+ ((address != null) ? " is " + address.getHostAddress()
							: " is not set, which means every address of this machine")
					+ ". Other machines reach the service there. Callers need no keys, so each of them can write to"
					+ " Redis and empty its lists.",
					"Give callers keys (pipeset.clients.<name>.key-sha256), or set " + property + "=127.0.0.1, or"
							+ " pipeset.security.anonymous=true if every caller that reaches the port may do that.");
		}
	}

}
