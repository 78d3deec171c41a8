package io.pipeset.web.access;

import java.net.InetAddress;

import io.pipeset.job.SecurityProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/**
 * Refuses foreign requests, and addresses that other machines reach, as long as callers
 * have no credentials. Spring finds this configuration by its scan, and Actuator once
 * more by {@code META-INF/spring}, for the server that {@code management.server.port}
 * gives it.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class AccessConfiguration {

	/** Behind the filter that counts requests, and before all that read them. */
	private static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 2;

	@Bean
	FilterRegistrationBean<ForeignRequests> foreignRequests(SecurityProperties security) {
		FilterRegistrationBean<ForeignRequests> filter = new FilterRegistrationBean<>(
				new ForeignRequests(new KnownHosts(security)));
		filter.setOrder(ORDER);
		return filter;
	}

	@Bean
	WebServerFactoryCustomizer<TomcatServletWebServerFactory> loopbackOnly(SecurityProperties security,
			ApplicationContext context) {
		String property = (WebServerApplicationContext.hasServerNamespace(context, "management"))
				? "management.server.address" : "server.address";
		return (factory) -> {
			if (!security.anonymous()) {
				requireLoopback(property, factory.getAddress());
			}
		};
	}

	private static void requireLoopback(String property, @Nullable InetAddress address) {
		if (address == null || !address.isLoopbackAddress()) {
			throw new ExposedAddressException(property, address);
		}
	}

}
