package io.pipeset.web.access;

import java.net.InetAddress;

import io.pipeset.job.ClientsProperties;
import io.pipeset.job.SecurityProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * Refuses addresses that other machines reach, as long as callers have no keys. Spring
 * finds this configuration by its scan, and Actuator once more by
 * {@code META-INF/spring}, for the server that {@code management.server.port} gives it.
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
							: " is not set, which stands for every address of this machine")
					+ ", where others reach the service: callers have no keys, and whoever reaches it can write to"
					+ " Redis and empty its lists.",
					"Give callers keys (pipeset.clients.<name>.key-sha256), or set " + property + "=127.0.0.1, or"
							+ " pipeset.security.anonymous=true where everybody who reaches the port may do that.");
		}
	}

}
