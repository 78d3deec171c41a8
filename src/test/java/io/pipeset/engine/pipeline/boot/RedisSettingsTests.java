package io.pipeset.engine.pipeline.boot;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The service does not start with a Redis setting of Boot's that is invalid or would have
 * no effect.
 */
class RedisSettingsTests {

	private final MockEnvironment environment = new MockEnvironment();

	@ParameterizedTest
	@CsvSource({ "cluster.max-redirects, 3, cluster.max-redirects=3, Remove it",
			"masterreplica.nodes, localhost:6379, masterreplica.*, spring.data.redis.host",
			"lettuce.read-from, replica, lettuce.read-from=replica, Remove it",
			"client-type, jedis, client-type=jedis, lettuce",
			"lettuce.pool.enabled, false, lettuce.pool.enabled=false, true",
			"lettuce.pool.maxActive, 9, lettuce.pool.max-active=9, pipeset.pipeline.max-connections",
			"lettuce.pool.max-wait, 9s, lettuce.pool.max-wait=9s, pipeset.pipeline.connect-timeout",
			"lettuce.pool.max-idle, 9, lettuce.pool.max-idle=9, Remove it",
			"lettuce.pool.min-idle, 9, lettuce.pool.min-idle=9, Remove it",
			"lettuce.pool.time-between-eviction-runs, 9s, lettuce.pool.time-between-eviction-runs=9s, Remove it",
			"lettuce.cluster.refresh.period, 9s, lettuce.cluster.*, Remove it" })
	void aSettingWithoutEffectIsRefusedByName(String setting, String value, String problem, String remedy) {
		this.environment.setProperty("spring.data.redis." + setting, value);
		FailureAnalysis analysis = refusal();
		assertThat(analysis.getDescription()).startsWith("spring.data.redis." + problem + " is refused. ");
		assertThat(analysis.getAction()).contains(remedy);
	}

	@Test
	void anEnvironmentVariableIsRefusedToo() {
		this.environment.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource("systemEnvironment",
					Map.of("SPRING_DATA_REDIS_LETTUCE_POOL_MAXACTIVE", "9")));
		assertThat(refusal().getDescription()).startsWith("spring.data.redis.lettuce.pool.max-active=9 is refused");
	}

	@ParameterizedTest
	@CsvSource({ "host, localhost, host=localhost", "url, redis://localhost, url", "database, 1, database=1" })
	void settingsOfASingleRedisAreRefusedTogetherWithACluster(String setting, String value, String problem) {
		this.environment.setProperty("spring.data.redis.cluster.nodes", "localhost:7000,localhost:7001");
		assertThatNoException().isThrownBy(this::check);
		this.environment.setProperty("spring.data.redis." + setting, value);
		assertThat(refusal().getDescription()).startsWith("spring.data.redis." + problem + " is refused. ");
	}

	@ParameterizedTest
	@ValueSource(strings = { "host=localhost", "url=redis://localhost:6379", "client-type=LETTUCE",
			"lettuce.pool.enabled=true", "lettuce.shutdown-timeout=1s", "timeout=1s", "client-name=me",
			"url=redis://user:7@localhost:6379", "url=redis://user:99999@localhost:6379/0", "port=65535", "database=15",
			"connect-timeout=1ms" })
	void supportedSettingsAreAccepted(String setting) {
		String[] parts = setting.split("=", -1);
		this.environment.setProperty("spring.data.redis." + parts[0], parts[1]);
		assertThatNoException().isThrownBy(this::check);
	}

	@ParameterizedTest
	@CsvSource({ "host, ' ', host=  is refused. It must be a name", "port, 0, port=0 is refused. It must be from 1 to",
			"port, 70000, port=70000 is refused", "database, -1, database=-1 is refused. It must be 0 or more",
			"connect-timeout, 0, connect-timeout=PT0S is refused. It must be 1ms or more",
			"connect-timeout, -1s, connect-timeout=PT-1S is refused",
			"url, rediss://user:secret@host:70000/0, url is refused. Its port is 70000.",
			"url, redis://user:secret@redis_master:6379, url is refused. Its host is neither",
			"url, redis://user:secret@host:6379123456, url is refused. Its host is neither",
			"url, redis://user:7@localhost, url is refused. It has no port.",
			"url, redis:user:secret@host, url is refused. Its host is neither",
			"url, redis://user:secret@host:6379/abc, url is refused. Its path is not the number of a database",
			"url, '', url is refused. It has no scheme.", "url, localhost, url is refused. It has no scheme.",
			"cluster.nodes, '', cluster.nodes is refused. It has no address.",
			"cluster.nodes, 'a:1,localhost', cluster.nodes is refused. Its address 2 has no port from 1 to 65535",
			"cluster.nodes, localhost:x, cluster.nodes is refused. Its address 1 has no port",
			"cluster.nodes, localhost:70000, cluster.nodes is refused. Its address 1 has no port",
			"cluster.nodes, 'a:1,password=secret=,ssl=True', cluster.nodes is refused. It contains a URL or options",
			"host, 'a:1,password=secret', host is refused. It contains a URL or options",
			"host, 'a?password=secret', host is refused. It contains a URL or options",
			"sentinel.master, m, sentinel.master is refused. It has no effect without",
			"sentinel.nodes, 'a:1,b:1', sentinel.nodes is refused. It has no effect without" })
	void anInvalidValueIsRefusedByName(String setting, String value, String problem) {
		this.environment.setProperty("spring.data.redis." + setting, value);
		assertThat(refusal().getDescription()).startsWith("spring.data.redis." + problem);
	}

	@Test
	void sentinelsNeedPorts() {
		this.environment.setProperty("spring.data.redis.sentinel.master", "mymaster");
		this.environment.setProperty("spring.data.redis.sentinel.nodes", "[::1]:26379,localhost");
		assertThat(refusal().getDescription())
			.startsWith("spring.data.redis.sentinel.nodes is refused. Its address 2 has no port");
	}

	@Test
	void aUrlWithSentinelsNeedsNoPort() {
		this.environment.setProperty("spring.data.redis.sentinel.master", "mymaster");
		this.environment.setProperty("spring.data.redis.sentinel.nodes", "localhost:26379");
		this.environment.setProperty("spring.data.redis.url", "rediss://user:secret@mymaster/0");
		assertThatNoException().isThrownBy(this::check);
		this.environment.setProperty("spring.data.redis.url", "rediss://user:secret@mymaster:0");
		assertThat(refusal().getDescription()).isEqualTo("spring.data.redis.url is refused. Its port is 0.");
	}

	@Test
	void aMasterWithSentinelsIsAccepted() {
		this.environment.setProperty("spring.data.redis.sentinel.master", "mymaster");
		this.environment.setProperty("spring.data.redis.sentinel.nodes[0]", "localhost:26379");
		assertThatNoException().isThrownBy(this::check);
	}

	@Test
	void theControlRedisMayUseAnotherMasterOfTheDatasSentinels() {
		RedisSettings control = new RedisSettings(this.environment, "pipeset.control");
		ConfigurationPropertySources.attach(this.environment);
		this.environment.setProperty("pipeset.control.sentinel.master", "other");
		assertThatExceptionOfType(UnsupportedRedisException.class)
			.isThrownBy(() -> control.postProcessBeanFactory(new DefaultListableBeanFactory()))
			.withMessageStartingWith("pipeset.control.sentinel.master is refused.");
		this.environment.setProperty("spring.data.redis.sentinel.master", "mymaster");
		this.environment.setProperty("spring.data.redis.sentinel.nodes", "localhost:26379");
		assertThatNoException().isThrownBy(() -> control.postProcessBeanFactory(new DefaultListableBeanFactory()));
	}

	@Test
	void sentinelsOfTheControlRedisNeedTheirOwnMaster() {
		RedisSettings control = new RedisSettings(this.environment, "pipeset.control");
		ConfigurationPropertySources.attach(this.environment);
		this.environment.setProperty("spring.data.redis.sentinel.master", "mymaster");
		this.environment.setProperty("spring.data.redis.sentinel.nodes", "localhost:26379");
		this.environment.setProperty("pipeset.control.sentinel.nodes", "localhost:26380");
		assertThatExceptionOfType(UnsupportedRedisException.class)
			.isThrownBy(() -> control.postProcessBeanFactory(new DefaultListableBeanFactory()))
			.withMessageStartingWith("pipeset.control.sentinel.nodes is refused.");
	}

	private FailureAnalysis refusal() {
		FailureAnalysis[] analysis = new FailureAnalysis[1];
		assertThatExceptionOfType(UnsupportedRedisException.class).isThrownBy(this::check)
			.satisfies((refused) -> analysis[0] = new UnsupportedRedisFailureAnalyzer()
				.analyze(new IllegalStateException(refused)));
		return analysis[0];
	}

	private void check() {
		ConfigurationPropertySources.attach(this.environment);
		new RedisSettings(this.environment, RedisSettings.DATA)
			.postProcessBeanFactory(new DefaultListableBeanFactory());
	}

}
