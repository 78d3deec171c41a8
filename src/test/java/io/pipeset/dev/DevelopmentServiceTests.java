package io.pipeset.dev;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.pipeset.PipesetApplication;
import io.pipeset.service.Service;
import org.junit.jupiter.api.Test;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** A service that starts a Redis for development keeps its records there as well. */
class DevelopmentServiceTests {

	@Test
	void aJobWithAKeyRuns() {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(PipesetApplication.class)
			.run("--server.port=0", "--pipeset.warm-up.enabled=false")) {
			Service service = new Service(
					context.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
			assertThat(service
				.send(service.request("/pipeset/3").header("Idempotency-Key", "one").POST(BodyPublishers.noBody()))
				.report()
				.at("/counts/applied")
				.asInt()).isEqualTo(3);
			assertThat(keys(context.getBean(EmbeddedRedis.class))).anyMatch((key) -> key.startsWith("pipeset:"));
		}
	}

	private static List<String> keys(EmbeddedRedis redis) {
		RedisClient client = RedisClient.create(RedisURI.builder()
			.withHost("127.0.0.1")
			.withPort(redis.port())
			.withPassword(redis.getPassword().toCharArray())
			.build());
		try {
			return client.connect().sync().keys("*");
		}
		finally {
			client.shutdown();
		}
	}

}
