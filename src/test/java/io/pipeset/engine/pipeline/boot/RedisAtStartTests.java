package io.pipeset.engine.pipeline.boot;

import java.util.List;
import java.util.Map;

import io.pipeset.PipesetApplication;
import io.pipeset.redis.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** The log says at the start which Redis it is, and once that it evicts keys. */
@ExtendWith(OutputCaptureExtension.class)
class RedisAtStartTests {

	@Test
	void anEvictingPolicyIsLoggedOnce(CapturedOutput output) {
		try (TestRedis redis = TestRedis.start("maxmemory 100mb", "maxmemory-policy allkeys-lfu")) {
			new SpringApplicationBuilder(PipesetApplication.class).web(WebApplicationType.NONE)
				.properties(Map.copyOf(redis.properties()))
				.run()
				.close();
			String address = redis.host() + ":" + redis.port();
			// Threads of other tests may log warnings about their own servers meanwhile.
			List<String> warnings = output.toString()
				.lines()
				.filter((line) -> line.contains(" WARN ") && line.contains("RedisAtStart") && line.contains(address))
				.toList();
			assertThat(warnings).singleElement()
				.asString()
				.contains(address + " evicts keys", "104857600", "allkeys-lfu", "noeviction");
		}
	}

}
