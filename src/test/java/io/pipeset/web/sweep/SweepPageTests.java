package io.pipeset.web.sweep;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import io.lettuce.core.api.sync.RedisCommands;
import io.pipeset.redis.TestRedis;
import io.pipeset.service.Service;
import io.pipeset.service.ServiceTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/** The examples of sweeps work as they stand, and give the answers that are shown. */
@ServiceTest
class SweepPageTests {

	private static final Pattern CALL = Pattern
		.compile("curl -sS -X POST 'http://localhost:8080(/v1/jobs\\?from=[^']*)'");

	private static final Pattern ANSWER = Pattern.compile("```json\n(\\{\"jobId\".*?\\})\n```", Pattern.DOTALL);

	private final Service service;

	private final RedisCommands<String, String> redis = TestRedis.shared().client();

	SweepPageTests(Service service) {
		this.service = service;
	}

	@BeforeEach
	void fillRedis() {
		this.redis.flushall();
		for (int i = 1; i <= 3; i++) {
			this.redis.set("cache:" + i, "v");
		}
		this.redis.hset("session:1", "f", "v");
		this.redis.set("session:2", "v");
		this.redis.setex("config:1", 500, "v");
	}

	@Test
	void theCallsOfThePageRunAndAnswerAsItSays() throws IOException {
		String page = Files.readString(Path.of("docs", "sweeps.md"));
		List<String> calls = calls(page);
		List<String> answers = ANSWER.matcher(page).results().map((found) -> found.group(1)).toList();
		assertThat(calls).hasSize(4);
		assertThat(answers).hasSize(2);
		for (int i = 0; i < calls.size(); i++) {
			JsonNode report = post(calls.get(i));
			if (i < answers.size()) {
				JsonNode expected = JsonMapper.shared().readTree(answers.get(i));
				assertThat(report.get("counts")).isEqualTo(expected.get("counts"));
				assertThat(report.get("scan")).isEqualTo(expected.get("scan"));
			}
		}
		assertThat(this.redis.keys("cache:*")).isEmpty();
		assertThat(this.redis.ttl("session:1")).isBetween(80_000L, 86_400L);
		assertThat(this.redis.ttl("session:2")).isEqualTo(-1);
		assertThat(this.redis.ttl("config:1")).isEqualTo(-1);
	}

	@Test
	void thePageOfAllCallsShowsSomeThatRun() throws IOException {
		List<String> calls = calls(Files.readString(Path.of("docs", "calls.md")));
		assertThat(calls).isNotEmpty();
		calls.forEach(this::post);
		assertThat(this.redis.keys("cache:*")).isEmpty();
	}

	private JsonNode post(String path) {
		return this.service.send(this.service.request(path).POST(BodyPublishers.noBody())).report();
	}

	private static List<String> calls(String page) {
		return CALL.matcher(page).results().map((MatchResult found) -> found.group(1)).toList();
	}

}
