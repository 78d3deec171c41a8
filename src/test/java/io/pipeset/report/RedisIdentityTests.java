package io.pipeset.report;

import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Each Redis has exactly one name, and no two have the same. */
class RedisIdentityTests {

	@ParameterizedTest
	@CsvSource({ "localhost, 6379, localhost:6379", "Redis.Example., 6380, redis.example:6380", "::1, 6379, [::1]:6379",
			"10.0.0.1, 7000, 10.0.0.1:7000" })
	void anAddressHasOneSpelling(String host, int port, String address) {
		assertThat(RedisIdentity.address(host, port)).isEqualTo(address);
	}

	@Test
	void theOrderOfNodesDoesNotMatter() {
		assertThat(RedisIdentity.of(Stream.of("b:1", "a:1", "b:1"), "cluster"))
			.isEqualTo(RedisIdentity.of(Stream.of("a:1", "b:1"), "cluster"))
			.extracting(RedisIdentity::name)
			.isEqualTo("a:1,b:1/cluster");
	}

	@Test
	void longListsOfNodesAreCutAndStayDistinct() {
		String name = nodes(100).name();
		assertThat(name).startsWith("node-1.redis.example:7000,node-10.redis.example:7000,")
			.endsWith("/cluster")
			.hasSizeLessThan(240);
		assertThat(nodes(100).name()).isEqualTo(name);
		assertThat(nodes(101).name()).isNotEqualTo(name).hasSameSizeAs(name);
	}

	private static RedisIdentity nodes(int count) {
		return RedisIdentity.of(IntStream.rangeClosed(1, count).mapToObj((i) -> "node-" + i + ".redis.example:7000"),
				"cluster");
	}

}
