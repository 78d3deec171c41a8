package io.pipeset.engine.pipeline.boot;

import io.pipeset.report.RedisIdentity;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/** The name of the Redis is that of the configuration, however it is spelled. */
class ConfiguredIdentityTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, SslAutoConfiguration.class))
		.withUserConfiguration(RedisConfiguration.class);

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			                                                               | localhost:6379/0
			host=Redis.example                                             | redis.example:6379/0
			host=redis.example port=6380 database=7 password=secret        | redis.example:6380/7
			url=redis://user:secret@REDIS.example:6380/7                   | redis.example:6380/7
			url=rediss://redis.example:6380                                | redis.example:6380/0
			sentinel.master=mymaster sentinel.nodes=b:26379,a:26379        | mymaster/0
			sentinel.master=mymaster sentinel.nodes=c:26379 database=2     | mymaster/2
			cluster.nodes=b:7000,A:7001,b:7000,a:7000 password=secret      | a:7000,a:7001,b:7000/cluster""")
	void aRedisIsNamedByItsConfiguration(String settings, String name) {
		String[] properties = (settings != null) ? settings.split(" +") : new String[0];
		for (int i = 0; i < properties.length; i++) {
			properties[i] = "spring.data.redis." + properties[i];
		}
		this.context.withPropertyValues(properties)
			.run((started) -> assertThat(started.getBean(RedisIdentity.class).name()).isEqualTo(name));
	}

}
