package io.pipeset.dev;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The embedded Redis starts only if no Redis is configured.
 */
@ExtendWith(OutputCaptureExtension.class)
class EmbeddedRedisConfigurationTests {

	/**
	 * Names a verified program, because a start without a configured program unpacks it
	 * again, which takes long.
	 */
	private static final String VERIFIED = "pipeset.embedded-redis.executable=" + CarriedProgram.verified();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
		.withUserConfiguration(EmbeddedRedisConfiguration.class);

	@Test
	void withNothingConfiguredSpringTalksToTheEmbeddedRedis(CapturedOutput output) {
		this.runner.run((context) -> {
			StringRedisTemplate template = context.getBean(StringRedisTemplate.class);
			template.opsForValue().set("key", "value");
			assertThat(template.opsForValue().get("key")).isEqualTo("value");
			EmbeddedRedis redis = context.getBean(EmbeddedRedis.class);
			assertThat(output).contains(redis + ": a development default")
				.contains("spring.data.redis.url")
				.doesNotContain(redis.getPassword());
		});
	}

	@Test
	void itLogsARedisCliCommandWithoutThePassword(CapturedOutput output, @TempDir Path bin) {
		this.runner.withPropertyValues(VERIFIED).run((context) -> {
			EmbeddedRedis redis = context.getBean(EmbeddedRedis.class);
			Matcher line = Pattern.compile("REDISCLI_AUTH=.* redis-cli -p \\d+$", Pattern.MULTILINE).matcher(output);
			assertThat(line.find()).isTrue();
			assertThat(line.group()).doesNotContain(redis.getPassword());
			// A program of that name prints its arguments. This machine need not have a
			// real one.
			Path program = bin.resolve("redis-cli");
			Files.writeString(program, "#!/bin/sh\necho \"$REDISCLI_AUTH $*\"\n");
			assertThat(program.toFile().setExecutable(true)).isTrue();
			ProcessBuilder shell = new ProcessBuilder("/bin/sh", "-c", line.group() + " ping")
				.redirectErrorStream(true);
			shell.environment().put("PATH", bin + ":" + shell.environment().get("PATH"));
			String said = new String(shell.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(said).isEqualTo(redis.getPassword() + " -p " + redis.port() + " ping\n");
		});
	}

	@Test
	void itIsStoppedAfterEverythingThatUsesRedis() {
		List<String> seen = new ArrayList<>();
		EmbeddedRedis[] started = new EmbeddedRedis[1];
		this.runner.withPropertyValues(VERIFIED)
			.withBean("lastUser", DisposableBean.class, () -> () -> seen.add("running: " + isRunning(started[0])))
			.withInitializer((context) -> context.addBeanFactoryPostProcessor(
					(factory) -> factory.getBeanDefinition("lastUser").setDependsOn("redisConnectionFactory")))
			.run((context) -> started[0] = context.getBean(EmbeddedRedis.class));
		assertThat(seen).containsExactly("running: true");
		assertThat(isRunning(started[0])).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "spring.data.redis.host=localhost", "spring.data.redis.url=redis://localhost:6379",
			"spring.data.redis.timeout=1s", "spring.data.redis.cluster.nodes[0]=localhost:7000",
			"pipeset.embedded-redis.enabled=false" })
	void aPropertyOfTheUserTurnsItOff(String property) {
		this.runner.withPropertyValues(property).run(EmbeddedRedisConfigurationTests::assertOff);
	}

	@ParameterizedTest
	@CsvSource({ "SPRING_DATA_REDIS_HOST, localhost", "SPRING_DATA_REDIS_PORT, 6379",
			"SPRING_DATA_REDIS_CLUSTER_NODES, localhost:7000", "SPRING_DATA_REDIS_PASSWORD, secret" })
	void anEnvironmentVariableOfTheUserTurnsItOff(String variable, String value) {
		withEnvironment(variable, value).run(EmbeddedRedisConfigurationTests::assertOff);
	}

	@Test
	void theEnvironmentNamesAnotherServerProgram() {
		withEnvironment("PIPESET_EMBEDDED_REDIS_EXECUTABLE", "no-such-server")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(EmbeddedRedisException.class)
				.hasMessageContaining("'no-such-server'"));
	}

	@Test
	void theEnvironmentTurnsItOff() {
		withEnvironment("PIPESET_EMBEDDED_REDIS_ENABLED", "false").run(EmbeddedRedisConfigurationTests::assertOff);
	}

	@Test
	void aFailureIsExplainedWithWhatToDo() {
		EmbeddedRedisException failure = new EmbeddedRedisException("There is no embedded Redis for Windows.");
		var analysis = new EmbeddedRedisFailureAnalyzer().analyze(new IllegalStateException(failure));
		assertThat(analysis.getDescription()).isEqualTo("There is no embedded Redis for Windows.");
		assertThat(analysis.getAction()).contains("spring.data.redis.url");
	}

	@Test
	void springBootKnowsTheClassThatExplainsAFailure() throws IOException {
		assertThat(Path.of("src/dev/resources/META-INF/spring.factories")).content()
			.contains(EmbeddedRedisFailureAnalyzer.class.getName());
	}

	private static void assertOff(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed().doesNotHaveBean(EmbeddedRedis.class);
		assertThat(context).hasSingleBean(DataRedisConnectionDetails.class);
	}

	private ApplicationContextRunner withEnvironment(String variable, String value) {
		return this.runner.withInitializer((context) -> context.getEnvironment()
			.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment", Map.of(variable, value))));
	}

	private static boolean isRunning(EmbeddedRedis redis) {
		return ProcessHandle.of(redis.pid()).isPresent();
	}

}
