package io.pipeset.web.access;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;

import io.pipeset.redis.TestRedis;
import io.pipeset.report.Counts;
import io.pipeset.service.Answer;
import io.pipeset.service.Lines;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** Replies over TLS are counted correctly, wherever the TLS records split them. */
@ServiceTest
class TlsTests {

	private static final TestRedis redis = TestRedis.start("tls-cert-file " + file("redis.crt"),
			"tls-key-file " + file("redis.key"), "tls-auth-clients no");

	private static final int PORT = redis.openTlsPort();

	private final Service service;

	TlsTests(Service service) {
		this.service = service;
	}

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		redis.register(registry);
		registry.add("spring.data.redis.port", () -> PORT);
		registry.add("spring.data.redis.ssl.enabled", () -> true);
		registry.add("spring.data.redis.ssl.bundle", () -> "redis");
		registry.add("spring.ssl.bundle.pem.redis.truststore.certificate", () -> "classpath:tls/redis.crt");
	}

	@AfterAll
	static void end() {
		redis.close();
	}

	@Test
	void errorsAtRandomPlacesAreFoundAtTheirIndexes() {
		redis.client().set("text", "no list");
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		int records = 200_000;
		TreeSet<Integer> wrong = new TreeSet<>();
		while (wrong.size() < 500) {
			wrong.add(random.nextInt(records));
		}
		JsonNode report = this.service.upload("/v1/jobs?concurrency=2&flush=buffered:" + (1 + random.nextInt(3000)),
				Service.NDJSON, Lines.of(records, (i) -> (wrong.contains((int) i)) ? "[\"LPUSH\",\"text\",\"x\"]"
						: "[\"SET\",\"k" + i + "\",\"" + i + "\"]"))
			.report();
		assertThat(Answer.counts(report)).as("seed %d", seed)
			.isEqualTo(new Counts(records, records - 500, 0, 500, 0, 0));
		assertThat(report.get("items").valueStream().map((item) -> item.get("index").asInt()).toList())
			.as("seed %d", seed)
			.isEqualTo(List.copyOf(wrong));
	}

	@Test
	void valuesLargerThanATlsRecordArriveComplete() {
		String piece = "0123456789abcdef".repeat(4000);
		int values = 50;
		this.service
			.upload("/v1/jobs", Service.NDJSON,
					Lines.of(values, (i) -> "[\"LPUSH\",\"large\",\"" + i + "-" + piece + "\"]"))
			.report();
		JsonNode report = this.service.post("/piperpop/" + (values + 1) + "?key=large").report();
		assertThat(Answer.counts(report)).isEqualTo(new Counts(values + 1, values, 1, 0, 0, 0));
		assertThat(report.get("values").valueStream().map(JsonNode::asString).toList())
			.isEqualTo(IntStream.range(0, values).mapToObj((i) -> i + "-" + piece).toList());
	}

	private static Path file(String name) {
		try {
			return Path.of(TlsTests.class.getResource("/tls/" + name).toURI());
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
