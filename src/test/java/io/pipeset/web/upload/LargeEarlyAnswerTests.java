package io.pipeset.web.upload;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** An early answer beyond what a connection holds reaches a client that sends first. */
@ServiceTest(properties = { "pipeset.limits.max-body-bytes=128MB", "pipeset.limits.max-items-bytes=64MB" })
class LargeEarlyAnswerTests {

	private static final String KEY = "k".repeat(15_000);

	private static final int LISTED = 900;

	/** More than the buffers of a connection in both directions, beside what is read. */
	private static final int RECORDS = 5000;

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	LargeEarlyAnswerTests(Service service) {
		this.service = service;
	}

	@AfterAll
	static void emptyRedisAgain() {
		TestRedis.shared().client().flushall();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aClientThatOnlySendsReadsAllOfItInTheEnd(boolean chunked) throws IOException {
		this.redis.set(KEY, "no list");
		byte[] record = ("[\"LPUSH\",\"" + KEY + "\",\"value\"]\n").getBytes(StandardCharsets.US_ASCII);
		HttpURLConnection client = (HttpURLConnection) this.service
			.uri("/v1/jobs?coalesce=off&maxErrors=" + (LISTED - 1))
			.toURL()
			.openConnection();
		client.setRequestProperty("Content-Type", Service.NDJSON);
		client.setDoOutput(true);
		if (chunked) {
			client.setChunkedStreamingMode(record.length);
		}
		else {
			client.setFixedLengthStreamingMode(RECORDS * record.length);
		}
		try (OutputStream out = client.getOutputStream()) {
			for (int i = 0; i < RECORDS; i++) {
				out.write(record);
			}
		}
		assertThat(client.getResponseCode()).isEqualTo(422);
		try (InputStream in = client.getErrorStream()) {
			JsonNode items = JsonMapper.shared().readTree(in).at("/job/items");
			assertThat(items.size()).isGreaterThanOrEqualTo(LISTED);
			assertThat(items.get(0).get("key").asString()).isEqualTo(KEY);
		}
	}

}
