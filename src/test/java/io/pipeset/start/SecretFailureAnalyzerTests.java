package io.pipeset.start;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import io.pipeset.PipesetApplication;
import io.pipeset.QuietLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.event.ApplicationStartingEvent;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.event.SmartApplicationListener;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** A failed start logs no secret, in any setting that can contain one. */
class SecretFailureAnalyzerTests {

	private static final String SECRET = "s3cret-of-an-operator";

	private static final String SINGLE = "spring.data.redis.";

	private static final String CONTROL = "pipeset.control.";

	private final StartLog log = new StartLog();

	@BeforeEach
	void listen() {
		QuietLog.expect("APPLICATION FAILED TO START");
		QuietLog.expect("Application run failed");
	}

	@AfterEach
	void end() {
		this.log.end();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			redis//u:SECRET@localhost:1         |
			http://u:SECRET@localhost:1         |
			redis://u:SECRET @localhost:1       |
			redis://u:SECRET%zz@localhost:1     |
			redis://u:SECRET${x}@localhost:1    |
			redis://u:1/SECRET@localhost:1      |
			redis:u:SECRET@localhost:1          |
			redis://:SECRET#@localhost:1        | spring.data.redis.port=x
			redis://u:SECRET@localhost:1        | spring.data.redis.cluster.nodes=localhost:1
			redis://u:SECRET@localhost:1        | spring.data.redis.database=x
			redis://u:SECRET@localhost:1        | spring.data.redis.ssl.bundle=none
			""")
	void aUrlOfRedisDoesNotShow(String url, String further) {
		assertSecretIsNotLogged(SINGLE + "url", url.replace("SECRET", SECRET), further);
	}

	/** The same code reads them, but in a separate application context. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			redis://u:SECRET @localhost:1       |
			redis://u:1/SECRET@localhost:1      |
			redis://u:SECRET@localhost:1        | pipeset.control.ssl.bundle=none
			""")
	void aUrlOfTheControlRedisDoesNotShow(String url, String further) {
		assertSecretIsNotLogged(CONTROL + "url", url.replace("SECRET", SECRET), further);
	}

	@Test
	void aPasswordThatAUrlTakesFromAnotherPropertyDoesNotShow() {
		assertSecretIsNotLogged(SINGLE + "url", "redis://u:${redis.pw}@localhost:1", "redis.pw=" + SECRET + "%zz");
	}

	@ParameterizedTest
	@ValueSource(strings = { "host", "cluster.nodes", "cluster.nodes[1]", "sentinel.nodes", "masterreplica.nodes" })
	void aUrlInPlaceOfAHostDoesNotShow(String setting) {
		assertSecretIsNotLogged(SINGLE + setting, "redis://:" + SECRET + "@localhost:1",
				(setting.endsWith("]")) ? SINGLE + "cluster.nodes[0]=localhost:1" : null);
	}

	@ParameterizedTest
	@ValueSource(strings = { "host", "cluster.nodes[1]", "sentinel.nodes" })
	void aUrlInPlaceOfTheHostOfTheControlRedisDoesNotShow(String setting) {
		assertSecretIsNotLogged(CONTROL + setting, "redis://:" + SECRET + "@localhost:1",
				(setting.endsWith("]")) ? CONTROL + "cluster.nodes[0]=localhost:1" : CONTROL + "sentinel.master=m");
		assertThat(this.log.toString()).contains(CONTROL + setting.replace("[1]", ""));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					spring.data.redis.password                         | spring.data.redis.lettuce.read-from=replica
					spring.data.redis.sentinel.password                | spring.data.redis.lettuce.read-from=replica
					server.ssl.key-store-password                      | server.ssl.key-store=FILE
					server.ssl.key-password                            | server.ssl.key-store=FILE
					server.ssl.trust-store-password                    | server.ssl.trust-store=FILE
					server.ssl.certificate-private-key                 | server.ssl.certificate=FILE
					management.server.ssl.key-store-password           | management.server.port=0 management.server.ssl.key-store=FILE
					management.server.ssl.certificate-private-key      | management.server.port=0 management.server.ssl.certificate=FILE
					spring.ssl.bundle.jks.x.keystore.password          | BUNDLE spring.ssl.bundle.jks.x.keystore.location=FILE
					spring.ssl.bundle.jks.x.key.password               | BUNDLE spring.ssl.bundle.jks.x.keystore.location=FILE
					spring.ssl.bundle.jks.x.truststore.password        | BUNDLE spring.ssl.bundle.jks.x.truststore.location=FILE
					spring.ssl.bundle.pem.x.keystore.private-key       | BUNDLE spring.ssl.bundle.pem.x.keystore.certificate=FILE
					spring.ssl.bundle.pem.x.truststore.private-key     | BUNDLE spring.ssl.bundle.pem.x.truststore.certificate=FILE
					spring.ssl.bundle.pem.x.keystore.private-key-password | BUNDLE spring.ssl.bundle.pem.x.keystore.private-key=FILE
					pipeset.redis.password                             | server.port=0
					""")
	void aSecretDoesNotShow(String name, String further) {
		String fails = further.replace("FILE", "classpath:tls/redis.crt").replace("BUNDLE", SINGLE + "ssl.bundle=x");
		assertSecretIsNotLogged(name, SECRET, fails);
		assertSecretIsNotLogged(name, "-----BEGIN PRIVATE KEY-----\n" + SECRET + "${x}\n-----END PRIVATE KEY-----",
				fails);
	}

	@Test
	void aFileWithInvalidYamlDoesNotShow(@TempDir Path directory) throws Exception {
		for (String line : new String[] { SECRET + ": @x", "@" + SECRET, "*" + SECRET, "\"" + SECRET, "{" + SECRET }) {
			Files.writeString(directory.resolve("application.yml"), "spring.data.redis:\n  password: " + line + "\n");
			assertSecretIsNotLogged("spring.config.additional-location", directory + "/", null);
			assertThat(this.log.toString()).contains("not valid YAML").contains("line ");
		}
	}

	@Test
	void theMessageNamesTheSetting() {
		for (String redis : List.of(SINGLE, CONTROL)) {
			assertSecretIsNotLogged(redis + "url", "http://:" + SECRET + "@localhost", null);
			assertThat(this.log.toString()).contains(redis + "url").contains("redis://user:password@host:port");
		}
	}

	@Test
	void otherFailuresAreLeftToOtherAnalyzers() {
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources()
			.addFirst(new MapPropertySource("test", Map.of("a.password", SECRET, "b.password", "", "c", "a file")));
		SecretFailureAnalyzer analyzer = new SecretFailureAnalyzer(environment);
		assertThat(analyzer.analyze(new IllegalStateException("There is no such thing as a file"))).isNull();
		assertThat(analyzer.analyze(new IllegalStateException())).isNull();
		FailureAnalysis analysis = analyzer
			.analyze(new IllegalStateException("x", new IllegalArgumentException("'" + SECRET + "'")));
		assertThat(analysis).isNotNull();
		assertThat(analysis.getDescription()).contains("a.password")
			.contains("IllegalStateException, caused by java.lang.IllegalArgumentException")
			.doesNotContain("b.password")
			.doesNotContain(SECRET);
	}

	private void assertSecretIsNotLogged(String name, String value, String further) {
		this.log.events.list.clear();
		List<String> arguments = new ArrayList<>(
				List.of("--server.port=0", "--pipeset.embedded-redis.enabled=false", "--" + name + "=" + value));
		for (String other : (further != null) ? further.split(" ") : new String[0]) {
			arguments.add("--" + other);
		}
		SpringApplication application = new SpringApplicationBuilder(PipesetApplication.class)
			.registerShutdownHook(false)
			.listeners(this.log)
			.build();
		assertThatException().as("%s with %s", name, further)
			.isThrownBy(() -> application.run(arguments.toArray(String[]::new)).close());
		assertThat(this.log.toString()).containsAnyOf("APPLICATION FAILED TO START", "Application run failed")
			.doesNotContain(SECRET);
	}

	/**
	 * All log lines of a start, with stack traces. It registers again at each start,
	 * because each start configures logging anew.
	 */
	private static final class StartLog implements SmartApplicationListener {

		private final Logger root = (Logger) LoggerFactory.getLogger("ROOT");

		private final ListAppender<ILoggingEvent> events = new ListAppender<>();

		@Override
		public boolean supportsEventType(Class<? extends ApplicationEvent> type) {
			return type == ApplicationStartingEvent.class || type == ApplicationEnvironmentPreparedEvent.class;
		}

		@Override
		public void onApplicationEvent(ApplicationEvent event) {
			this.events.start();
			this.root.addAppender(this.events);
		}

		private void end() {
			this.root.detachAppender(this.events);
		}

		@Override
		public String toString() {
			StringBuilder lines = new StringBuilder();
			for (ILoggingEvent event : List.copyOf(this.events.list)) {
				lines.append(event.getFormattedMessage()).append('\n');
				if (event.getThrowableProxy() != null) {
					lines.append(ThrowableProxyUtil.asString(event.getThrowableProxy())).append('\n');
				}
			}
			return lines.toString();
		}

	}

}
