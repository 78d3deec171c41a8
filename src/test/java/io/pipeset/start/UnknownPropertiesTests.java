package io.pipeset.start;

import java.util.Map;

import io.pipeset.PipesetApplication;
import io.pipeset.QuietLog;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.type.filter.AnnotationTypeFilter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/** A misspelt property fails the start. */
class UnknownPropertiesTests {

	private static final ConfigurableListableBeanFactory beans = beans();

	@ParameterizedTest
	@CsvSource({ "pipeset.limits.max-item, pipeset.limits.max-items",
			"pipeset.limit.max-items, pipeset.limits.max-items", "pipeset.limits.maxItem, pipeset.limits.max-items",
			"pipeset.default.atomic, pipeset.defaults.atomic",
			"pipeset.max-running-jobs, pipeset.limits.max-running-jobs",
			"pipeset.security.anonymus, pipeset.security.anonymous",
			"pipeset.security.anonymous[0], pipeset.security.anonymous",
			"pipeset.warm.up.enabled, pipeset.warm-up.enabled",
			"pipeset.limits.max-items.bytes, pipeset.limits.max-items-bytes",
			"pipeset.clients.orders.key-sha, pipeset.clients.name.key-sha256",
			"pipeset.client.orders.scripts, pipeset.clients.name.scripts", "pipeset.clients.orders,",
			"pipeset.clients.orders.limits.max-job, pipeset.clients.name.limits.max-jobs",
			"pipeset.control.hosts, pipeset.control.host", "pipeset.control.clientType, pipeset.control.client-name",
			"pipeset.control.lettuce.pool.enabled, pipeset.control.ssl.enabled" })
	void anUnknownPropertyIsRefusedAndTheNearestIsNamed(String name, @Nullable String nearest) {
		assertRefused(name, false, nearest);
	}

	@ParameterizedTest
	@CsvSource({ "PIPESET_LIMITS_MAXITEM, PIPESET_LIMITS_MAXITEMS",
			"PIPESET_SECURITY_ANONYMUS, PIPESET_SECURITY_ANONYMOUS",
			"PIPESET_LIMITS_MAXBODYBYTES_0, PIPESET_LIMITS_MAXBODYBYTES",
			"pipeset.limits.max-item, pipeset.limits.max-items",
			"PIPESET_CLIENTS_ORDERS_KEYSHA, PIPESET_CLIENTS_NAME_KEYSHA256",
			"PIPESET_BODYIDLETIMEOUT, PIPESET_LIMITS_BODYIDLETIMEOUT" })
	void anUnknownVariableIsRefusedAndTheNearestIsNamed(String name, @Nullable String nearest) {
		assertRefused(name, true, nearest);
	}

	@ParameterizedTest
	@ValueSource(strings = { "pipeset.limits.max-items", "pipeset.limits.maxItems", "pipeset.limits.max_items",
			"PIPESET_LIMITS_MAXITEMS", "PIPESET_LIMITS_MAX_ITEMS", "pipeset_limits_maxitems",
			"pipeset.clients.orders.key-sha256", "pipeset.clients.orders.key-sha256[1]",
			"pipeset.clients.a-b.limits.maxRecords", "pipeset.clients.9.key-prefixes[0]",
			"PIPESET_CLIENTS_ORDERS_KEYSHA256", "PIPESET_CLIENTS_ORDERS_KEY_SHA256_1",
			"PIPESET_CLIENTS_ORDERS_LIMITS_MAXRECORDS", "pipeset.security.allowed-hosts",
			"pipeset.security.allowed-hosts[1]", "PIPESET_SECURITY_ALLOWEDHOSTS", "PIPESET_SECURITY_ALLOWED_HOSTS_1",
			"pipeset.warm-up.time", "PIPESET_WARM_UP_TIME", "PIPESET_WARMUP_ENABLED", "pipeset.defaults.rate-limit",
			"pipeset.control.host", "pipeset.control.cluster.nodes[0]", "pipeset.control.connect-timeout",
			"pipeset.control.ssl.bundle", "PIPESET_CONTROL_SENTINEL_NODES_1", "PIPESET_CONTROL_CONNECTTIMEOUT",
			"pipeset.receipts.sweep-interval", "pipeset.pipeline.window-bytes", "pipeset.scripts.max-count",
			"pipesetter.limits", "pipeset", "spring.pipeset.limits", "PIPESET", "PIPESETTER_LIMITS" })
	void knownPropertiesAndThoseOfOthersAreAccepted(String name) {
		boolean variable = Character.isUpperCase(name.charAt(0)) || name.contains("t_l");
		assertThatNoException().isThrownBy(() -> check(name, variable));
	}

	/**
	 * Three kinds of variables look like properties: those that name the Redis of the
	 * tests, those of the clients in the documentation, and those that Kubernetes or
	 * Docker sets for a service called pipeset.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "PIPESET_TEST_REDIS", "PIPESET_TEST_REDIS_URL", "PIPESET_PORT", "PIPESET_SERVICE_HOST",
			"PIPESET_SERVICE_PORT", "PIPESET_SERVICE_PORT_HTTP", "PIPESET_PORT_8080_TCP", "PIPESET_PORT_8080_TCP_ADDR",
			"PIPESET_REDIS_SERVICE_HOST", "PIPESET_REDIS_PORT_6379_TCP_PROTO", "PIPESET_REDIS_NAME",
			"PIPESET_REDIS_ENV_REDIS_VERSION", "PIPESET_URL", "PIPESET_KEY", "PIPESET_CALLBACK_SECRET" })
	void variablesOfOtherProgramsAreIgnored(String name) {
		assertThatNoException().isThrownBy(() -> check(name, true));
	}

	/** The message has the same form as that of any other failed start. */
	@Test
	void theMessageOfAFailedStartSaysWhatToDo() {
		QuietLog.expect("APPLICATION FAILED TO START");
		assertThatExceptionOfType(UnknownPropertyException.class)
			.isThrownBy(() -> new SpringApplicationBuilder(PipesetApplication.class).run("--pipeset.limits.max-item=5",
					"--server.port=0"));
		assertThat(QuietLog.heard()).singleElement()
			.asString()
			.contains("The service has no property pipeset.limits.max-item (commandLineArgs).")
			.contains("Remove pipeset.limits.max-item, or correct its name; the nearest is"
					+ " pipeset.limits.max-items.");
	}

	private static void assertRefused(String name, boolean variable, @Nullable String nearest) {
		assertThatExceptionOfType(UnknownPropertyException.class).isThrownBy(() -> check(name, variable))
			.withMessageStartingWith("The service has no property " + name + " (test-systemEnvironment).")
			.satisfies((ex) -> assertThat(ex.remedy()).isEqualTo("Remove " + name + ", or correct its name"
					+ ((nearest != null) ? "; the nearest is " + nearest : "") + "."));
	}

	private static void check(String name, boolean variable) {
		StandardEnvironment environment = new StandardEnvironment();
		Map<String, Object> properties = Map.of(name, "1");
		environment.getPropertySources()
			.addFirst((variable) ? new SystemEnvironmentPropertySource("test-systemEnvironment", properties)
					: new MapPropertySource("test-systemEnvironment", properties));
		new UnknownProperties(environment).postProcessBeanFactory(beans);
	}

	private static ConfigurableListableBeanFactory beans() {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		ClassPathScanningCandidateComponentProvider scanner = new ClassPathScanningCandidateComponentProvider(false);
		scanner.addIncludeFilter(new AnnotationTypeFilter(ConfigurationProperties.class));
		for (BeanDefinition definition : scanner.findCandidateComponents("io.pipeset")) {
			beans.registerBeanDefinition(String.valueOf(definition.getBeanClassName()), definition);
		}
		return beans;
	}

}
